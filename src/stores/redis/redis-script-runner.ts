import { RedisConnection, ScriptUnknown, type RedisConnectionOptions } from './redis-connection.ts'

/** Runs Lua scripts at a Redis server, over one connection, in the order of the calls. */
export interface RedisScriptRunner {
  /**
   * Runs a script once. It is sent as text until the server has it, then as its SHA-1.
   *
   * @throws {StoreUnavailable} as a command of `RedisConnection`; the script may have run or not
   */
  run(script: string, keys: readonly string[], words: readonly string[]): Promise<unknown>
  /** Ends pending scripts. */
  close(): void
}

/** Connects at first use, and again after a connection was lost. */
export function redisScriptRunner(options: RedisConnectionOptions): RedisScriptRunner {
  const connection = new RedisConnection(options)
  /** SHA-1 by script: the few of the program. */
  const names = new Map<string, string>()
  /** Scripts that the server has. So scripts run in the order of the calls, unless the server has lost them. */
  const loaded = new Set<string>()

  function nameOf(script: string): string {
    const known = names.get(script)
    if (known !== undefined) return known
    const name = new Bun.CryptoHasher('sha1').update(script).digest('hex')
    names.set(script, name)
    return name
  }

  return {
    async run(script, keys, words) {
      const rest = [String(keys.length), ...keys, ...words]
      try {
        if (loaded.has(script)) return await connection.send('EVALSHA', [nameOf(script), ...rest])
        const reply = await connection.send('EVAL', [script, ...rest])
        loaded.add(script)
        return reply
      } catch (error) {
        // The server may have restarted.
        loaded.clear()
        if (!(error instanceof ScriptUnknown)) throw error
        return await connection.send('EVAL', [script, ...rest])
      }
    },
    close: () => connection.close(),
  }
}
