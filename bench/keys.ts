/**
 * `npm run bench:keys -- [ROUNDS]`: what keys, four limits and the ledger cost a request, and what requests wait for
 * while the ledger stands still. Exits with 1 when a goal is missed.
 */
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { measurePieces } from './key-pieces.ts'
import { plainLoad, rateLoad, type LoadTarget } from './load.ts'
import { processorTicks, stealPercent } from './machine.ts'
import { readProcessFile } from './process-tree.ts'
import { missingPrograms } from './programs.ts'
import type { Proxy } from './proxies/proxy.ts'
import { svcWithKeys, svcWithoutKeys } from './proxies/svc-with-keys.ts'
import { requestPath, userUs } from './request-path.ts'
import { summarize } from './statistics.ts'
import { formatSummary, markdownTable } from './table.ts'
import { warmUps } from './warm-up.ts'
import { inWorkshop, startProxy, type Workshop } from './workshop.ts'

const roundSeconds = 4
const connections = 64
const addedUsMax = 2
const roundsOfPieces = 200
const stallSeconds = 10
const stallPerSecond = 500
/** p99 while the ledger stands still, against the p99 before: noise of the machine, and no more. */
const stallMax = { times: 1.25, moreMs: 1 }

interface Service extends LoadTarget {
  readonly pid: number
  readonly directory: string
}

async function start(proxy: Proxy, workshop: Workshop): Promise<Service> {
  let directory = ''
  const noted: Proxy = {
    ...proxy,
    launch(setting) {
      directory = setting.directory
      return proxy.launch(setting)
    },
  }
  const { program, port, headers } = await startProxy(noted, workshop)
  return { name: proxy.name, port, headers, pid: program.pid, directory }
}

/** Time on a processor of the main thread of a process, and of all its threads, in microseconds. */
function cpuUs(pid: number): { readonly main: number; readonly all: number } {
  const scheduled = (thread: string): number => Number(readProcessFile(pid, `${thread}/schedstat`)?.split(' ')[0]) / 1e3
  const ticks = readProcessFile(pid, 'stat')?.split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? []
  return { main: scheduled(`task/${pid}`), all: ticks.reduce((sum, each) => sum + each, 0) * 1e4 }
}

interface Cost {
  readonly mainUs: number
  readonly allUs: number
}

async function costOf(service: Service, loadCore: number): Promise<Cost> {
  const before = cpuUs(service.pid)
  const { requests } = await plainLoad(service, connections, roundSeconds, loadCore)
  const after = cpuUs(service.pid)
  return { mainUs: (after.main - before.main) / requests, allUs: (after.all - before.all) / requests }
}

/** @returns whether the goal is reached */
async function measurePath(rounds: number): Promise<boolean> {
  const paths = [await requestPath(), await requestPath({ hasKeys: true })] as const
  for (const path of [...paths, ...paths]) await userUs(path)
  const pairs: (readonly [without: number, withKeys: number])[] = []
  for (let round = 0; round < rounds; round += 1) pairs.push([await userUs(paths[0]), await userUs(paths[1])])
  for (const path of paths) await path.close()
  const row = (name: string, figure: (pair: (typeof pairs)[number]) => number) => [
    name,
    formatSummary(summarize(pairs.map(figure))),
  ]
  const rows = [
    row('without, µs', ([without]) => without),
    row('with a key, four limits and records for the ledger, µs', ([, withKeys]) => withKeys),
    row('added, µs', ([without, withKeys]) => withKeys - without),
    row('ratio', ([without, withKeys]) => withKeys / without),
  ]
  const head = ['user time of a request in one process, without sockets', ofRounds(rounds)]
  console.log(`\n${markdownTable(head, rows)}`)
  const added = summarize(pairs.map(([without, withKeys]) => withKeys - without))?.median ?? Number.NaN
  const isReached = added <= addedUsMax
  console.log(`\nadded to the path of a request: ${added.toFixed(2)} µs, goal ${addedUsMax} µs: ${verdict(isReached)}`)
  return isReached
}

async function printPieces(): Promise<void> {
  const pieces = await measurePieces(roundsOfPieces)
  const rows = pieces.map(({ name, leastUs }) => [name, leastUs.toFixed(3)])
  const head = ['each piece alone, in a warm process', `µs of CPU, least of ${roundsOfPieces} rounds`]
  console.log(`\n${markdownTable(head, rows)}`)
}

async function measureCost(without: Service, withKeys: Service, rounds: number, loadCore: number): Promise<void> {
  const pairs: { readonly off: Cost; readonly on: Cost }[] = []
  for (let round = 0; round < rounds; round += 1) {
    // Each round begins with the other one.
    const isOffFirst = round % 2 === 0
    const first = await costOf(isOffFirst ? without : withKeys, loadCore)
    const second = await costOf(isOffFirst ? withKeys : without, loadCore)
    pairs.push(isOffFirst ? { off: first, on: second } : { off: second, on: first })
  }
  const row = (name: string, figure: (pair: (typeof pairs)[number]) => number) => [
    name,
    formatSummary(summarize(pairs.map(figure))),
  ]
  console.log(
    `\n${markdownTable(
      ['CPU of a request', ofRounds(rounds)],
      [
        row('main thread, without, µs', ({ off }) => off.mainUs),
        row('main thread, with keys, four limits and ledger, µs', ({ on }) => on.mainUs),
        row('added, µs', ({ off, on }) => on.mainUs - off.mainUs),
        row('ratio', ({ off, on }) => on.mainUs / off.mainUs),
        row('all threads, without, µs', ({ off }) => off.allUs),
        row('all threads, with, µs', ({ on }) => on.allUs),
        row('ratio of all threads', ({ off, on }) => on.allUs / off.allUs),
      ],
    )}`,
  )
}

/** A write lock on the database stops the thread of the ledger. @returns whether the goal is reached */
async function measureStall(service: Service, loadCore: number): Promise<boolean> {
  const load = { perSecond: stallPerSecond, settleUs: 1e6, lengthUs: stallSeconds * 1e6, inFlightMax: 256 }
  const before = await rateLoad(service, load, loadCore)
  const path = join(service.directory, 'svc.db')
  const lock = new Database(path)
  lock.run('BEGIN IMMEDIATE')
  const during = await rateLoad(service, load, loadCore)
  lock.run('ROLLBACK')
  const after = await rateLoad(service, load, loadCore)
  lock.close()
  const ms = (us: number): string => (us / 1e3).toFixed(2)
  const row = (name: string, found: typeof before) => [
    name,
    ms(found.p50Us),
    ms(found.p99Us),
    `${found.answered} of ${found.scheduled}`,
  ]
  const head = [`${stallPerSecond} requests a second`, 'median, ms', 'p99, ms', 'answered']
  const rows = [row('before', before), row(`ledger locked for ${stallSeconds + 1} s`, during), row('after', after)]
  console.log(`\n${markdownTable(head, rows)}`)
  const usual = Math.max(before.p99Us, after.p99Us)
  const isReached =
    during.answered === during.scheduled && during.p99Us <= usual * stallMax.times + stallMax.moreMs * 1e3
  console.log(
    `\np99 while the ledger stands still: ${ms(during.p99Us)} ms beside ${ms(usual)} ms: ${verdict(isReached)}`,
  )
  return isReached
}

function ofRounds(rounds: number): string {
  return `median of ${rounds} rounds (least–most)`
}

function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'MISSED'
}

async function measureServices(rounds: number, workshop: Workshop): Promise<boolean> {
  const missing = await missingPrograms(new Set(['wrk']))
  if (missing.size > 0) throw new Error('wrk is missing: it sends the requests')
  const ticks = processorTicks()
  const { load } = workshop.cores
  const services = [await start(svcWithoutKeys, workshop), await start(svcWithKeys, workshop)] as const
  const warmUp = warmUps(load)
  for (const service of services) await warmUp('requests', service)
  await measureCost(...services, rounds, load)
  const isUnchanged = await measureStall(services[1], load)
  console.log(`\nTaken by the host: ${stealPercent(ticks, processorTicks()).toFixed(1)} %.`)
  return isUnchanged
}

const rounds = Number(process.argv[2] ?? 9)
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`rounds: found '${process.argv[2]}', allowed: 1 or more`)
const isCheap = await measurePath(rounds)
await printPieces()
const isUnchanged = await inWorkshop((workshop) => measureServices(rounds, workshop))
if (!isCheap || !isUnchanged) process.exitCode = 1
