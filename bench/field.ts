import { streamLoad } from './load.ts'
import { directName, type Contender } from './measures/measure.ts'
import { askPlain } from './measures/start.ts'
import type { ProgramName } from './programs.ts'
import { progress, reasonOf } from './progress.ts'
import type { Proxy } from './proxies/proxy.ts'
import type { ProxyNote } from './report.ts'
import { startProxy, type Workshop } from './workshop.ts'

/** Proxies that take part, and reasons why others do not. */
export interface Field {
  readonly contenders: readonly Contender[]
  readonly proxies: readonly ProxyNote[]
  readonly notes: readonly string[]
}

/**
 * Starts each proxy and checks that it answers. A proxy that cannot be installed, started or used is left out, with a
 * note. With `looksAtDisk` its size on disk is measured too.
 */
export async function startField(
  proxies: readonly Proxy[],
  missing: ReadonlySet<ProgramName>,
  workshop: Workshop,
  looksAtDisk: boolean,
): Promise<Field> {
  const contenders: Contender[] = [{ name: directName, port: workshop.upstreamPort, headers: {}, canStream: true }]
  const started: ProxyNote[] = [{ name: directName, version: `bun/${Bun.version}`, setup: 'the mock upstream itself' }]
  const notes: string[] = []
  const note = (text: string): void => {
    notes.push(text)
    progress(text)
  }
  for (const proxy of proxies) {
    try {
      contenders.push(await startContender(proxy, missing, workshop, note))
      started.push(await describe(proxy, looksAtDisk, note))
    } catch (error) {
      note(`${proxy.name} is left out: ${reasonOf(error)}`)
    }
  }
  return { contenders, proxies: started, notes }
}

async function startContender(
  proxy: Proxy,
  missing: ReadonlySet<ProgramName>,
  workshop: Workshop,
  note: (text: string) => void,
): Promise<Contender> {
  const absent = proxy.needs.filter((name) => missing.has(name))
  if (absent.length > 0) throw new Error(`${absent.join(' and ')} not installed`)
  await proxy.prepare()
  progress(`starting ${proxy.name}`)
  const { program, ...address } = await startProxy(proxy, workshop)
  const target = { name: proxy.name, ...address }
  const answer = await askPlain(target)
  if (answer?.status !== 200 || !answer.text.includes('xxxx'))
    throw new Error(`answered ${answer?.status ?? 'nothing'} ${answer?.text.slice(0, 200) ?? ''}`)
  const reason = await whyNoStreams(target, workshop.cores.load)
  if (reason !== undefined) note(`${proxy.name} does not stream: ${reason}`)
  return { ...target, pid: program.pid, canStream: reason === undefined }
}

/** Reason why a target cannot stream; undefined: its streams are complete. */
async function whyNoStreams(target: Omit<Contender, 'canStream'>, loadCore: number): Promise<string | undefined> {
  try {
    await streamLoad(target, { connections: 1, streamsPerConnection: 2, chunks: 3, paceUs: 1000 }, loadCore)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

async function describe(proxy: Proxy, looksAtDisk: boolean, note: (text: string) => void): Promise<ProxyNote> {
  const { name, kind, setup } = proxy
  const about = { name, kind, setup, version: await proxy.version() }
  if (!looksAtDisk || proxy.installed === undefined) return about
  try {
    return { ...about, installed: await proxy.installed() }
  } catch (error) {
    note(`${name}, installed size: ${reasonOf(error)}`)
    return about
  }
}
