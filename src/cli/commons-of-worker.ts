import type { Answers } from '../cluster/channel.ts'
import { followTogether } from '../cluster/follow-together.ts'
import { sharedPort, type SharedPort } from '../cluster/shared-port.ts'
import { restartReason, type WorkerLife } from '../cluster/worker-life.ts'
import { isFirstWorker, linkToPrimary } from '../cluster/worker-link.ts'
import { mistake } from '../observe/log.ts'
import { workerObserver } from '../observe/worker-observer.ts'
import { healthBook } from '../service/health.ts'
import { withinMs } from '../service/within.ts'
import { remoteStores, type StoreAnswer, type StoreOperation } from '../stores/remote.ts'
import type { PrimaryAnswers, WorkerAnswers } from './cluster-answers.ts'
import type { Commons } from './commons.ts'
import { findStores } from './find-stores.ts'
import type { ServeContext } from './serve-context.ts'

/**
 * A primary that does not answer for so long stands still: its stores are as good as away, as those of a server that
 * hangs are.
 */
const storeMs = 2_000

/**
 * For one of several workers: what is in common is the primary's, or in a server that all share. @throws what
 * {@link findStores} does
 */
export async function commonsOfWorker(
  { given, environment, log }: ServeContext,
  signal: AbortSignal,
): Promise<Commons> {
  const health = healthBook(() => performance.now())
  const onFault = (error: unknown) => log.error('a mistake of this service', mistake(error))
  const ours: Record<string, Answers[string]> = {}
  const { primary, leaving } = linkToPrimary<PrimaryAnswers>(ours, onFault)
  const together = followTogether(primary)
  const observer = workerObserver({
    primary: {
      takeRecords: (batch) => primary.ask('takeRecords', batch),
      metricsText: () => primary.ask('metricsText', undefined),
      rememberedRequests: (wanted) => primary.ask('rememberedRequests', wanted),
      findRequest: (wanted) => primary.ask('findRequest', wanted),
      attemptsAt: (providers) => primary.ask('attemptsAt', providers),
      followRequests: (isFollowing) => primary.ask('followRequests', isFollowing),
    },
    logLinesDropped: () => log.dropped,
  })
  // `pidof -s` names any process of a program; whichever it is, it is one service.
  process.on('SIGUSR2', () => primary.tell('roll', undefined))
  let shared: SharedPort | undefined
  const answers: Omit<WorkerAnswers, keyof WorkerLife> = {
    ...together.answers,
    ...observer.answers,
    news: health.hear,
    spread: () => shared?.spread(),
  }
  Object.assign(ours, answers)

  const { port, workers, hasBegun, standing } = await primary.ask('welcome', undefined)
  for (const news of standing) health.hear(news)
  health.onNews((news) => primary.tell('news', news))
  const stores =
    given.store === undefined || given.store === 'memory'
      ? remoteStores(withoutWaiting((operation) => primary.ask('store', operation)))
      : await findStores(given.store, log, hasBegun)
  return {
    port,
    workers,
    isPortShared: true,
    isSpeaker: isFirstWorker(environment),
    joinsLate: hasBegun,
    health: {
      ...health,
      setTargets(targets) {
        health.setTargets(targets)
        primary.tell('targets', targets)
      },
    },
    stores,
    observer,
    follow: together.follow,
    probe: (port) => primary.ask('probe', port),
    buildPage: () => primary.ask('buildPage', undefined),
    // A signal of its own has it leave too; the primary then puts another in its place.
    leaving: AbortSignal.any([leaving, signal]),
    // What the primary says counts: who is told to end by itself is replaced.
    doOthersStay: () => (leaving.aborted ? leaving.reason === restartReason : workers > 1),
    listening(ownPort, lines) {
      shared = sharedPort({
        port: ownPort,
        onUnable: (reason) => log.debug('connections may be lost when a worker leaves', { reason }),
      })
      primary.tell('listening', { port: ownPort, lines })
    },
    reload: () => void primary.ask('reloadAll', undefined).catch(() => undefined),
    async leavePort() {
      const where = await primary.ask('placeInGroup', undefined).catch(() => undefined)
      return shared !== undefined && where !== undefined && (await shared.leave(where))
    },
    leftPort: () => primary.tell('leftPort', undefined),
    async close() {
      await observer.flush()
      await stores.close()
    },
  }
}

/**
 * Once the primary has left a question without an answer, nobody asks, nor waits, until it has answered that one: what
 * is asked of it would pile up.
 */
function withoutWaiting(
  ask: (operation: StoreOperation) => Promise<StoreAnswer>,
): (operation: StoreOperation) => Promise<StoreAnswer> {
  let unanswered = 0
  return async function askStore(operation) {
    if (unanswered > 0) throw new Error('the primary does not answer')
    const question = ask(operation)
    const answer = await withinMs(question, storeMs)
    if (answer !== undefined) return answer
    unanswered += 1
    question
      .catch(() => undefined)
      .finally(() => {
        unanswered -= 1
      })
    throw new Error(`no answer within ${storeMs} ms`)
  }
}
