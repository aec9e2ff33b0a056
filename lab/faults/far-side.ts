import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { readLines } from '../../test/lines.ts'

/** A network namespace with an upstream, behind a link whose quality `tc` and `ip` can change. */
export interface FarSide extends AsyncDisposable {
  /** Base URL of a good upstream there. */
  readonly url: string
  /** Number of requests at that upstream. */
  readonly hits: number
  /** Base URL at an unused address: packets to it are lost. */
  readonly nowhere: string
  /** Runs `ip` at the far side. */
  ip(...command: readonly string[]): Promise<string>
  /** Runs `tc` at the far side; its device is `far`. */
  tc(...command: readonly string[]): Promise<string>
}

/** Reason why this machine cannot make a far side; `undefined`: it can. */
export function lacksFarSide(): string | undefined {
  if (process.getuid?.() !== 0) return 'making a network namespace takes root'
  const missing = ['ip', 'tc'].filter((command) => Bun.which(command, { PATH: path() }) === null)
  if (missing.length > 0) return `there is no ${missing.join(' nor ')} on this machine (Debian: iproute2)`
  const name = `svc-probe-${process.pid}`
  const tried = Bun.spawnSync(['ip', 'netns', 'add', name], {
    stdout: 'ignore',
    stderr: 'ignore',
    env: { PATH: path() },
  })
  Bun.spawnSync(['ip', 'netns', 'del', name], { stdout: 'ignore', stderr: 'ignore', env: { PATH: path() } })
  return tried.success ? undefined : 'network namespaces are not allowed'
}

/** Reason why the far side cannot have this queueing discipline; `undefined`: it can. */
export function lacksDiscipline(name: string, ...parameters: readonly string[]): string | undefined {
  const lack = lacksFarSide()
  if (lack !== undefined) return lack
  const namespace = `svc-probe-${process.pid}`
  const run = (...command: readonly string[]) =>
    Bun.spawnSync([...command], { stdout: 'ignore', stderr: 'ignore', env: { PATH: path() } }).success
  run('ip', 'netns', 'add', namespace)
  const isThere = run('ip', 'netns', 'exec', namespace, 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', name, ...parameters)
  run('ip', 'netns', 'del', namespace)
  return isThere ? undefined : `this kernel has no \`tc ${name}\``
}

/** Makes a far side with a good upstream. @throws when a command fails */
export async function openFarSide(pauseMs = 0): Promise<FarSide> {
  const name = `svc-far-${process.pid}`,
    near = `svcn${process.pid}`.slice(0, 15)
  // From the range for benchmarks (RFC 2544, appendix C.2.2), which is not routed.
  const net = `198.18.${process.pid % 256}`
  // The link is removed explicitly: the kernel removes the namespace later.
  const remove = () =>
    [
      ['link', 'del', near],
      ['netns', 'del', name],
    ].forEach(
      (command) =>
        void Bun.spawnSync(['ip', ...command], { stdout: 'ignore', stderr: 'ignore', env: { PATH: path() } }),
    )
  const far = (...command: readonly string[]) => run('ip', 'netns', 'exec', name, ...command)
  process.once('exit', remove)
  try {
    await run('ip', 'netns', 'add', name)
    await run('ip', 'link', 'add', near, 'type', 'veth', 'peer', 'name', 'far', 'netns', name)
    await run('ip', 'addr', 'add', `${net}.1/24`, 'dev', near)
    await run('ip', 'link', 'set', near, 'mtu', '1500', 'up')
    await far('ip', 'addr', 'add', `${net}.2/24`, 'dev', 'far')
    await far('ip', 'link', 'set', 'far', 'mtu', '1500', 'up')
    await run('ip', 'neigh', 'replace', `${net}.99`, 'lladdr', '02:00:00:00:00:99', 'dev', near)
    const upstream = await startUpstream(name, `${net}.2`, pauseMs)
    return {
      url: upstream.url,
      get hits() {
        return upstream.hits()
      },
      nowhere: `http://${net}.99:80/v1`,
      ip: (...command) => far('ip', ...command),
      tc: (...command) => far('tc', ...command),
      async [Symbol.asyncDispose]() {
        await upstream.stop()
        process.removeListener('exit', remove)
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

async function startUpstream(
  namespace: string,
  host: string,
  pauseMs: number,
): Promise<{ readonly url: string; readonly hits: () => number; readonly stop: () => Promise<void> }> {
  const child = Bun.spawn(
    ['ip', 'netns', 'exec', namespace, process.execPath, import.meta.path, host, String(pauseMs)],
    { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit', env: { ...process.env, PATH: path() } },
  )
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const url = Promise.withResolvers<string>()
  let hits = 0
  void readLines(child.stdout, (line) => {
    if (line === 'hit') hits += 1
    else url.resolve(line)
  }).then(() => url.reject(new Error('the upstream at the far side did not start')))
  return {
    url: await url.promise,
    hits: () => hits,
    async stop() {
      process.removeListener('exit', kill)
      kill()
      await child.exited
    },
  }
}

async function run(...command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, PATH: path() },
  })
  const [code, output, complaint] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
  if (code !== 0) throw new Error(`${command.join(' ')}: ${complaint.trim()}`)
  return output
}

/** PATH with `sbin`, where these commands are. */
function path(): string {
  return `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`
}

/** Process in the namespace: `far-side.ts HOST PAUSE_MS` prints its base URL, and `hit` for each request. */
if (import.meta.main) {
  const [hostname = '127.0.0.1', pauseMs = '0'] = process.argv.slice(2)
  const answer = good({ pauseMs: Number(pauseMs) })
  const upstream = faultUpstream(
    (exchange) => {
      console.log('hit')
      return answer(exchange)
    },
    { hostname },
  )
  console.log(upstream.url)
}
