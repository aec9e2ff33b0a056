/** Runs Lua scripts in one server for several machines, each script in one step. */
export interface ScriptServer {
  /** @throws when the server does not answer in time; the script may have run or not */
  run(script: string, keys: readonly string[], words: readonly string[]): Promise<unknown>
  close(): void
}

export interface PeerOptions {
  readonly server: ScriptServer
  /** Processes of this machine. Default 1. */
  readonly workers?: number
  /** Between two heartbeats. Default 3 s. */
  readonly beatMs?: number
}

/** Names of all keys begin with it. */
export const keyPrefix = 'svc:limits:'

const aliveKey = `${keyPrefix}alive`

/**
 * The beginning of every script. KEYS[1]: a hash of processes: the time of their last message in microseconds of the
 * server's clock, and the number of that message. ARGV[1], ARGV[2]: process, number of the message.
 *
 * A message with a lower number than the last one was overtaken: it was sent over a connection that was given up. It
 * has no effect.
 *
 * A process that was silent for 10 s counts as dead. `alive` has the others, `silent` those that were not silent for an
 * hour yet, `gone` the rest. `has_earlier`: a process of an earlier version of the scripts is alive.
 */
export const peerScript = `
local process = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local alive, silent, gone, processes, last, has_earlier = {}, {}, {}, 1, 0, false
local function whole(number) return string.format('%.0f', number) end
local peers = redis.call('HGETALL', KEYS[1])
for i = 1, #peers, 2 do
  local at, number = peers[i + 1]:match('^(%d+) (%d+)$')
  if peers[i] == process then
    last = tonumber(number or 0)
  elseif at and now - at < 10000000 then
    alive[peers[i]] = true
    processes = processes + 1
    has_earlier = has_earlier or peers[i]:sub(1, 2) ~= '2:'
  elseif at and now - at < 3600000000 then
    silent[peers[i]] = true
  else
    gone[#gone + 1] = peers[i]
  end
end
alive[process] = true
if tonumber(ARGV[2]) <= last then return {-1} end
-- The first write: a server whose memory is full refuses it, and nothing has changed.
redis.call('HSET', KEYS[1], process, whole(now) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], 3600000)
`

/** Clears processes that are gone. */
const beatScript = `${peerScript}
for i = 1, math.min(#gone, 100) do redis.call('HDEL', KEYS[1], gone[i]) end
return {processes}
`

const leaveScript = `${peerScript}
redis.call('HDEL', KEYS[1], process)
return {processes}
`

/** This process among those of all machines that share limits. Heartbeats begin at once. */
export class Peer {
  /** Identifies this process, and begins with the version of the scripts. */
  readonly name = `2:${crypto.randomUUID()}`
  /** Living processes by the last answer of the server, with this one; at least those of this machine. */
  processes: number
  readonly #server: ScriptServer
  readonly #workers: number
  readonly #beats: (() => Promise<void>)[] = []
  readonly #timer: ReturnType<typeof setInterval>
  #lastNumber = 0
  #beating: Promise<void> | undefined

  constructor({ server, workers = 1, beatMs = 3_000 }: PeerOptions) {
    this.#server = server
    this.#workers = workers
    this.processes = workers
    this.#timer = setInterval(() => void this.beat(), beatMs)
    this.#timer.unref()
  }

  /**
   * Sends the next message: a script that begins with {@link peerScript}.
   *
   * @returns the numbers of its answer behind the number of processes
   * @throws when the server does not answer in time, or answers nonsense, or has run a later message first
   */
  async send(script: string, keys: readonly string[], words: readonly string[]): Promise<readonly number[]> {
    this.#lastNumber += 1
    const own = [this.name, String(this.#lastNumber)]
    const reply = numbersOf(await this.#server.run(script, [aliveKey, ...keys], [...own, ...words]))
    const [known = -1, ...rest] = reply
    if (known < 1) throw new Error('the message was overtaken by a later one')
    this.processes = Math.max(this.#workers, known)
    return rest
  }

  /** Calls a function with each heartbeat. It may send, and must not throw. */
  onBeat(beat: () => Promise<void>): void {
    this.#beats.push(beat)
  }

  /** Sends a heartbeat now. The server may be slow: heartbeats do not pile up. */
  beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  async #beatOnce(): Promise<void> {
    try {
      await this.send(beatScript, [], [])
      for (const each of this.#beats) await each()
    } catch {
      // Other messages fail, too, and their senders act on it; the connection logs why. The next one tries again.
    }
  }

  /** Leaves the others: its slots are free. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#beating
    await this.beat()
    await this.send(leaveScript, [], []).catch(() => undefined)
    this.#server.close()
  }
}

/** A key as long for every caller, which shows no name. */
export function hashedKey(text: string): string {
  return keyPrefix + new Bun.CryptoHasher('sha256').update(text).digest('base64url')
}

/** @throws for anything but an array of numbers */
function numbersOf(reply: unknown): readonly number[] {
  if (!Array.isArray(reply)) throw new Error('not an answer of a script')
  return reply.map((each: unknown) => {
    if (typeof each !== 'number') throw new Error('not an answer of a script')
    return each
  })
}
