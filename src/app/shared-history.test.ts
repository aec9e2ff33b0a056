import { Database } from 'bun:sqlite'
import { expect, setSystemTime, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { parseConfig } from '../config/file/parse-config.ts'
import { temporaryLedger } from '../ledger/testing.ts'
import { SharedHistory } from './shared-history.ts'

const configOf = (history: unknown) =>
  parseConfig(JSON.stringify({ providers: [], history }), { file: 'providers.json', environment: {} })
const ann = { id: 'a', subject: 'a', name: 'ann' }

test('old conversations are deleted by the active configuration, not by one that may be refused yet', async () => {
  const { path, remove } = await temporaryLedger()
  const home = dirname(path)
  const deleted: unknown[] = []
  const shared = new SharedHistory({
    environment: { SVC_HOME: home, SVC_HISTORY_KEY: randomBytes(32).toString('base64') },
    log: { info: (_, fields) => void deleted.push(fields), error: () => undefined },
    isReplacement: false,
    isSweeper: true,
  })
  const [forEver, forDays] = [configOf('server'), configOf({ days: 1 })]
  await shared.prepare(forEver)
  shared.activate(forEver)
  const history = await shared.of(forEver)
  for (const id of ['old', 'new']) await history?.write(ann, { id, base: 0, text: '{}' })
  using file = new Database(join(home, 'history.db'))
  file.run(`UPDATE history_conversation SET written = 1 WHERE id = 'old'`)
  await shared.prepare(forDays)
  await Bun.sleep(20)
  expect(await history?.read('a', ['old'])).toHaveLength(1)
  shared.activate(forDays)
  while (deleted.length === 0) await Bun.sleep(1)
  expect([deleted, await history?.read('a', ['old'])]).toEqual([[{ conversations: 1, days: 1 }], []])
  await shared.close()
  await remove()
})

test('a clock that jumps ahead deletes conversations only if it is not corrected within a day', async () => {
  const { path, remove } = await temporaryLedger()
  const logged: string[] = []
  let passed = 0
  const options = {
    environment: { SVC_HOME: dirname(path), SVC_HISTORY_KEY: randomBytes(32).toString('base64') },
    log: { info: (message: string) => void logged.push(message), error: () => undefined },
    ...{ isReplacement: false, isSweeper: true, passed: () => passed },
  }
  const config = configOf({ days: 90 })
  const opened = async () => {
    const shared = new SharedHistory(options)
    await shared.prepare(config)
    const history = await shared.of(config)
    /** Sweeps as each hour does. */
    async function sweep(): Promise<number | undefined> {
      shared.activate(config)
      await Bun.sleep(20)
      return (await history?.read('a', ['c']))?.length
    }
    return { shared, history, sweep }
  }
  const waits = 'old conversations are deleted in a day: if the clock is wrong, correct it'
  try {
    const first = await opened()
    await first.history?.write(ann, { id: 'c', base: 0, text: '{}' })
    expect(await first.sweep()).toBe(1)
    setSystemTime(Date.now() + 365 * 86_400_000)
    expect([await first.sweep(), await first.sweep()]).toEqual([1, 1])
    while (logged.length === 0) await Bun.sleep(1)
    await first.shared.close()
    // A start with such a clock.
    const second = await opened()
    expect(await second.sweep()).toBe(1)
    while (logged.length === 1) await Bun.sleep(1)
    expect(logged).toEqual([waits, waits])
    passed += 86_399_999
    setSystemTime(Date.now() + 86_399_999)
    expect(await second.sweep()).toBe(1)
    passed += 1
    while ((await second.sweep()) !== 0);
    await second.shared.close()
  } finally {
    setSystemTime()
    await remove()
  }
})
