/** Runs Lua scripts in one server for several machines, each script in one step. */
export interface ScriptServer {
  /** @throws when the server does not answer in time; the script may have run or not */
  run(script: string, keys: readonly string[], words: readonly string[]): Promise<unknown>
  close(): void
}

/** This process among those of all machines that share limits. */
export interface Peer {
  /** Living processes by the last answer of the server, with this one; at least those of this machine. */
  readonly processes: number
  /** Identifies this process. */
  readonly name: string
  /**
   * Sends the next message: a script that begins with {@link peerScript}.
   *
   * @returns the numbers of its answer behind the number of processes
   * @throws when the server does not answer in time, or answers nonsense, or has run a later message first
   */
  send(script: string, keys: readonly string[], words: readonly string[]): Promise<readonly number[]>
  /** Calls a function with each heartbeat. It may send, and must not throw. */
  onBeat(beat: () => Promise<void>): void
  /** Sends a heartbeat now. */
  beat(): Promise<void>
  /** Leaves the others: its slots are free. */
  close(): Promise<void>
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
 * A process that was silent for 10 s counts as dead. `alive` has the others; `dead` those that must still be cleared.
 */
export const peerScript = `
local process = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local alive, dead, processes, last = {}, {}, 1, 0
local function whole(number) return string.format('%.0f', number) end
local peers = redis.call('HGETALL', KEYS[1])
for i = 1, #peers, 2 do
  local at, number = peers[i + 1]:match('^(%d+) (%d+)$')
  if peers[i] == process then
    last = tonumber(number or 0)
  elseif at and now - at < 10000000 then
    alive[peers[i]] = true
    processes = processes + 1
  else
    dead[#dead + 1] = peers[i]
  end
end
alive[process] = true
if tonumber(ARGV[2]) <= last then return {-1} end
-- The first write: a server whose memory is full refuses it, and nothing has changed.
redis.call('HSET', KEYS[1], process, whole(now) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], 3600000)
`

/** Clears dead processes, of which nothing else is kept. */
const beatScript = `${peerScript}
for i = 1, math.min(#dead, 100) do redis.call('HDEL', KEYS[1], dead[i]) end
return {processes}
`

const leaveScript = `${peerScript}
redis.call('HDEL', KEYS[1], process)
return {processes}
`

/** Joins the processes that share limits through a server. Heartbeats begin at once. */
export function peer({ server, workers = 1, beatMs = 3_000 }: PeerOptions): Peer {
  const name = crypto.randomUUID()
  const beats: (() => Promise<void>)[] = []
  let processes = workers
  let lastNumber = 0
  let beating: Promise<void> | undefined
  const timer = setInterval(() => void beat(), beatMs)
  timer.unref()

  async function send(script: string, keys: readonly string[], words: readonly string[]): Promise<readonly number[]> {
    lastNumber += 1
    const reply = numbersOf(await server.run(script, [aliveKey, ...keys], [name, String(lastNumber), ...words]))
    const [known = -1, ...rest] = reply
    if (known < 1) throw new Error('the message was overtaken by a later one')
    processes = Math.max(workers, known)
    return rest
  }

  /** The server may be slow: heartbeats must not pile up. */
  function beat(): Promise<void> {
    beating ??= beatOnce().finally(() => {
      beating = undefined
    })
    return beating
  }

  async function beatOnce(): Promise<void> {
    try {
      await send(beatScript, [], [])
      for (const each of beats) await each()
    } catch {
      // Other messages fail, too, and those who sent them act on it; the connection logs why. The next one tries again.
    }
  }

  return {
    name,
    get processes() {
      return processes
    },
    send,
    beat,
    onBeat: (each) => void beats.push(each),
    async close() {
      clearInterval(timer)
      await beating
      await beat()
      await send(leaveScript, [], []).catch(() => undefined)
      server.close()
    },
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
