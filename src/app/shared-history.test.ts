import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { parseConfig } from '../config/file/parse-config.ts'
import { temporaryLedger } from '../ledger/testing.ts'
import { sharedHistory } from './shared-history.ts'

const configOf = (history: unknown) =>
  parseConfig(JSON.stringify({ providers: [], history }), { file: 'providers.json', environment: {} })
const ann = { id: 'a', subject: 'a', name: 'ann' }

test('old conversations are deleted by the active configuration, not by one that may be refused yet', async () => {
  const { path, remove } = await temporaryLedger()
  const home = dirname(path)
  const deleted: unknown[] = []
  const shared = sharedHistory({
    environment: { SVC_HOME: home, SVC_HISTORY_KEY: randomBytes(32).toString('base64') },
    log: { info: (_, fields) => void deleted.push(fields), error: () => undefined },
    isReplacement: false,
    isSweeper: true,
  })
  const [forEver, forDays] = [configOf('server'), configOf({ days: 1 })]
  await shared.prepare(forEver)
  shared.activate(forEver)
  const history = await shared.of(forEver)
  await history?.write(ann, { id: 'old', base: 0, text: '{}' })
  using file = new Database(join(home, 'history.db'))
  file.run('UPDATE history_conversation SET written = 1')
  await shared.prepare(forDays)
  await Bun.sleep(20)
  expect(await history?.read('a', ['old'])).toHaveLength(1)
  shared.activate(forDays)
  while (deleted.length === 0) await Bun.sleep(1)
  expect([deleted, await history?.read('a', ['old'])]).toEqual([[{ conversations: 1, days: 1 }], []])
  await shared.close()
  await remove()
})
