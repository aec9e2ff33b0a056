import { describe, expect, test } from 'bun:test'
import { encode } from '../bytes/text.ts'
import { chat } from './chat/format.ts'
import { envelopeAt } from './format-testing.ts'
import { spliceRequest, type RequestChanges } from './splice-request.ts'

/** The changed body of a request whose model is not in it. */
function changed(changes: Omit<RequestChanges, 'model'>): string {
  const ask = chat.check(encode('{"model":"m", "messages":[{"role":"user","content":"x"}] ,"seed": 1}'), envelopeAt(''))
  const [model, ...members] = ask.members
  const start = (model?.end ?? 0) + 2
  const body = Buffer.concat([encode('{'), ask.body.subarray(start)])
  const moved = members.map((member) => ({
    name: member.name,
    start: member.start - start + 1,
    valueStart: member.valueStart - start + 1,
    end: member.end - start + 1,
  }))
  return Buffer.concat(spliceRequest({ ...ask, body, members: moved }, { model: 'theirs', ...changes })).toString()
}

const messages = '"messages":[{"role":"user","content":"x"}]'

describe('a request whose model is not in its body', () => {
  test.each([
    ['stays as it is', {}, `{${messages} ,"seed": 1}`],
    ['gets new members at its end', { overrides: { a: [1] } }, `{${messages} ,"seed": 1,"a":[1]}`],
    ['gets new values', { overrides: { seed: 2 } }, `{${messages} ,"seed": 2}`],
    ['gets both', { overrides: { seed: 2, a: 3 } }, `{${messages} ,"seed": 2,"a":3}`],
    ['gets no value of the caller by another spelling', { overrides: { Seed: 2 } }, `{${messages},"Seed":2}`],
    ['loses members', { drop: ['seed'] }, `{${messages}}`],
    ['gets and loses members', { drop: ['seed'], overrides: { a: 3 } }, `{${messages},"a":3}`],
  ])('%s', (_name, changes, expected) => {
    expect(changed(changes)).toBe(expected)
  })
})
