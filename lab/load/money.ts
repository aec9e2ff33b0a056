/** `npm run money`: uses up budgets on several machines, and compares bill, ledger and limits. See `--help`. */
import { runLoadCommand } from './load-options.ts'
import type { Findings, Target } from './load-report.ts'
import { boundTopologies, runBounds, type BoundRound } from './money-bounds.ts'
import { dearestEstimate } from './money-provider.ts'
import { runMoney, type Kill, type MoneyAsked, type MoneyFound, type MoneyRound } from './money-run.ts'

const usage = {
  name: 'money',
  does: 'uses up budgets of several machines over Redis, kills processes, and compares bill and ledger',
  numbers: {
    machines: { fallback: 2, min: 1, max: 8, does: 'services with homes of their own' },
    workers: { fallback: 4, min: 2, max: 64, does: 'workers of each machine' },
    callers: { fallback: 64, min: 1, max: 256, does: 'callers at once' },
    minutes: {
      fallback: 1,
      min: 0.01,
      max: 60,
      does: 'time of the rounds; missing kills get two minutes more, and more beyond 64 callers',
    },
    kills: { fallback: 1, min: 0, max: 40, does: 'kills of each kind: a worker, a primary, Redis, PostgreSQL' },
    bounds: {
      fallback: 12,
      min: 0,
      max: 400,
      does: 'budgets of hidden prompts, content by reference and long answers, in one process, workers, two machines',
    },
    revocations: { fallback: 10, min: 0, max: 100, does: 'keys that are ended; PostgreSQL only' },
  },
  switches: { sqlite: 'a ledger in SQLite on each machine, instead of one PostgreSQL' },
} as const

const usd = (nano: number): string => `$${(nano / 1e9).toFixed(9)}`
const sum = (rounds: readonly MoneyRound[], read: (round: MoneyRound) => number): number =>
  rounds.reduce((total, round) => total + read(round), 0)

/** nano-USD that a round has spent beyond its limit and what the promise allows. Estimates count as spent. */
const beyond = (round: MoneyRound): number =>
  Math.max(round.spent, round.billed + round.leaving.booked) - round.limit - dearestEstimate - round.atKill

function killTarget(kill: Kill, rounds: readonly MoneyRound[]): readonly Target[] {
  const these = rounds.filter((round) => round.kill === kill)
  if (these.length === 0) return []
  const lost = sum(these, ({ billed, booked }) => billed - booked)
  const lossMax = sum(these, ({ lossMax }) => lossMax)
  const isKept = these.every(({ billed, booked, lossMax }) => billed >= booked && billed - booked <= lossMax)
  const allowed = kill === 'worker' || kill === 'primary' ? 'at most the last 0.25 s' : 'nothing'
  return [
    {
      name: `kill -9 of ${kill}, ${these.length} times: the ledger loses ${allowed}`,
      found: `${usd(lost)} of ${usd(lossMax)}`,
      isMet: isKept,
    },
    {
      name: `kill -9 of ${kill}: budgets are exceeded by one request, and those under way`,
      found: `${these.filter((round) => beyond(round) > 0).length} of ${these.length} by more`,
      isMet: these.every((round) => beyond(round) <= 0),
    },
  ]
}

/** A hard limit may be exceeded by a first answer that costs more than all of it. */
const exceeds = ({ isHard, limit, billed, dearest, answers }: BoundRound): boolean =>
  billed > (isHard ? (answers === 1 ? Math.max(limit, dearest) : limit) : limit + dearest)

function boundTargets(rounds: readonly BoundRound[]): readonly Target[] {
  return boundTopologies.flatMap((topology) => {
    const these = rounds.filter((round) => round.topology === topology)
    if (these.length === 0) return []
    const [hard, soft] = [true, false].map((isHard) => these.filter((round) => round.isHard === isHard))
    const beyondOf = (some: readonly BoundRound[] = [], unit: (round: BoundRound) => number) =>
      Math.max(0, ...some.map((round) => (round.billed - round.limit) / Math.max(1, unit(round)))).toFixed(2)
    return [
      {
        name: `unforeseeable bills, ${topology}: a budget is exceeded by its dearest request at most, a hard one not`,
        found: [
          `${soft?.length ?? 0} budgets at most by ${beyondOf(soft, ({ dearest }) => dearest)} of it`,
          `${hard?.length ?? 0} hard ones by ${beyondOf(hard, ({ limit }) => limit)} of the limit`,
          `${answersOf(these)} answers`,
        ].join(', '),
        isMet: !these.some(exceeds),
      },
    ]
  })
}

const answersOf = (rounds: readonly BoundRound[]): number => rounds.reduce((total, { answers }) => total + answers, 0)

function reportOf(
  asked: MoneyAsked,
  { rounds, requests, answered, revokedMs, complaints }: MoneyFound,
  bounds: readonly BoundRound[],
): Findings {
  const calm = rounds.filter(({ kill }) => kill === undefined)
  const [billed, booked] = [sum(calm, (round) => round.billed), sum(calm, (round) => round.booked)]
  const exceeded = calm.map((round) => (round.billed + round.leaving.billed - round.limit) / Math.max(1, round.dearest))
  const differing = calm.filter(({ leaving: { read, booked, billed } }) => booked < read || booked > billed)
  const estimated = calm.map(({ spent, limit }) => (spent - limit) / dearestEstimate)
  const slowest = Math.max(0, ...revokedMs)
  const usedUp = rounds.filter(({ isUsedUp }) => isUsedUp)
  return {
    rows: [
      [
        'machines',
        `${asked.machines} with ${asked.workers} workers, Redis, ${asked.withPostgres ? 'PostgreSQL' : 'SQLite'}`,
      ],
      ['requests', `${requests} of ${asked.callers} callers, ${answered} answered in whole`],
      ['budgets', `${rounds.length}, ${calm.length} of them undisturbed; ${usd(sum(rounds, ({ limit }) => limit))}`],
      [
        'spent, by the ledger',
        `${usd(sum(rounds, ({ spent }) => spent))}, ${usd(sum(rounds, ({ estimated }) => estimated))} of it estimated`,
      ],
      [
        'callers that leave: read, booked, billed',
        [
          sum(rounds, ({ leaving }) => leaving.read),
          sum(rounds, ({ leaving }) => leaving.booked),
          sum(rounds, ({ leaving }) => leaving.billed),
        ]
          .map(usd)
          .join(', '),
      ],
      [
        'part of the undisturbed budgets that was used',
        `${((100 * sum(calm, ({ spent }) => spent)) / sum(calm, ({ limit }) => limit)).toFixed(2)} %`,
      ],
      ...(revokedMs.length === 0
        ? []
        : [['a key ended on another machine', `${revokedMs.map((ms) => ms.toFixed(0)).join(', ')} ms`] as const]),
    ],
    targets: [
      {
        name: 'no bill of a budget exceeds it by more than its dearest request',
        found: `at most by ${Math.max(0, ...exceeded).toFixed(2)} of it`,
        isMet: exceeded.length > 0 && exceeded.every((share) => share <= 1),
      },
      {
        name: 'the same with estimates, and the dearest estimate',
        found: `at most by ${Math.max(0, ...estimated).toFixed(2)} of it`,
        isMet: estimated.every((share) => share <= 1),
      },
      {
        name: 'the ledger is the bill, to the nano-dollar',
        found: `${usd(booked)} of ${usd(billed)}`,
        isMet: calm.length > 0 && calm.every((round) => round.billed === round.booked && round.billed > 0),
      },
      {
        name: 'callers that leave: the ledger has all they read, and no more than the bill',
        found: `${differing.length} budgets differ`,
        isMet: differing.length === 0,
      },
      {
        name: 'every budget is used up',
        found: `${usedUp.length} of ${rounds.length}`,
        isMet: usedUp.length === rounds.length,
      },
      ...(['worker', 'primary', 'Redis', 'PostgreSQL'] as const).flatMap((kill) => killTarget(kill, rounds)),
      ...(revokedMs.length === 0
        ? []
        : [
            {
              name: 'a key ended on one machine is refused on the other within 1 s (p100)',
              found: `${slowest.toFixed(0)} ms`,
              isMet: slowest <= 1_000,
            },
          ]),
      ...boundTargets(bounds),
      { name: 'nothing unexpected', found: `${complaints.length} complaints`, isMet: complaints.length === 0 },
    ],
    complaints: [
      ...complaints,
      ...rounds
        .filter(
          (round) => round.billed < round.booked || round.billed - round.booked > round.lossMax || beyond(round) > 0,
        )
        .map((round) => `budget ${JSON.stringify(round)}`),
      ...bounds.filter(exceeds).map((round) => `budget ${JSON.stringify(round)}`),
    ],
  }
}

// Children end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

await runLoadCommand(usage, async (options) => {
  const asked = {
    machines: options.number('machines'),
    workers: options.number('workers'),
    callers: options.number('callers'),
    minutes: options.number('minutes'),
    kills: options.number('kills'),
    revocations: options.number('revocations'),
    withPostgres: !options.has('sqlite'),
  }
  const bounds: BoundRound[] = []
  const boundsAsked = { callers: asked.callers, rounds: options.number('bounds') }
  if (boundsAsked.rounds > 0)
    for (const topology of boundTopologies) bounds.push(...(await runBounds(topology, boundsAsked)))
  return reportOf(asked, await runMoney(asked), bounds)
})
