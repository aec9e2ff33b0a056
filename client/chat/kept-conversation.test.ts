import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientHost } from '../../src/cli/client-commands.ts'
import { keepConversation, readConversation } from './kept-conversation.ts'
import { userMessage, type ChatMessage } from './messages.ts'

const host = clientHost()

const folder = mkdtempSync(join(tmpdir(), 'svc-kept-'))
const path = join(folder, 'chat', 'last.json')
afterAll(() => rmSync(folder, { recursive: true }))

const question = userMessage('why?', [{ kind: 'picture', url: 'https://example.org/a.png' }])
const answer: ChatMessage = { role: 'assistant', content: 'so' }

test('a conversation is read as it was kept, by its owner only', async () => {
  expect(await readConversation(path)).toBeUndefined()
  const conversation = { model: 'm', system: 'be short', messages: [question, answer] }
  expect(await keepConversation(path, conversation, host)).toBe(true)
  expect(await readConversation(path)).toEqual(conversation)
  expect([statSync(path).mode & 0o777, statSync(join(folder, 'chat')).mode & 0o777]).toEqual([0o600, 0o700])
})

test('the first questions of a long conversation are left out', async () => {
  const long = userMessage('x'.repeat(6 * 1024 * 1024), [])
  const messages = [long, answer, long, answer, long, answer]
  expect(await keepConversation(path, { model: 'm', system: undefined, messages }, host)).toBe(true)
  expect((await readConversation(path))?.messages).toEqual(messages.slice(2))
  expect(statSync(path).size).toBeLessThanOrEqual(16 * 1024 * 1024)
})

test('a question that is too large leaves the file as it was', async () => {
  const before = readFileSync(path)
  const messages = [userMessage('x'.repeat(17 * 1024 * 1024), []), answer]
  expect(await keepConversation(path, { model: 'm', system: undefined, messages }, host)).toBe(false)
  expect(readFileSync(path).equals(before)).toBe(true)
})

test.each([
  ['no JSON', '{'],
  ['no object', '7'],
  ['no model', '{"messages":[]}'],
  ['messages of another shape', '{"model":"m","messages":[{"role":"tool","content":"x"}]}'],
  ['parts of another shape', '{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}'],
  ['instructions that are no text', '{"model":"m","system":1,"messages":[]}'],
  ['more than 32 MiB', ' '.repeat(32 * 1024 * 1024 + 1)],
])('a file with %s is refused, with its path and the way out', async (_, text) => {
  writeFileSync(path, text)
  await expect(readConversation(path)).rejects.toThrow(/last\.json cannot be read: .+; remove the file, or ask without/)
})
