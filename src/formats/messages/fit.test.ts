import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { withFields, anyTarget } from '../../profiles/resolve-profile.ts'
import { jsonOf } from '../../protocols/fixtures/load.ts'
import { Changes } from '../../service/changes.ts'
import { checkBody } from '../check-body.ts'
import { interruptedText, orphanText } from '../pair-calls.ts'
import { fitMessagesRequest } from './fit.ts'
import { messagesCheck } from './request.ts'

/** The request in the form of the profile, and the names of the changes. Undefined: the caller's bytes stay. */
function fitted(body: JsonObject, profile: Partial<TargetProfile>) {
  const request = checkBody(Buffer.from(JSON.stringify({ model: 'm', ...body })), messagesCheck('messages', [], {}))
  const changes = new Changes()
  const sent = fitMessagesRequest(request, withFields(anyTarget, profile), changes)
  return sent === request ? undefined : { ...jsonOf(sent.body), adjusted: changes.adjusted }
}

const image = (media_type: string, data: string) => ({ type: 'image', source: { type: 'base64', media_type, data } })
const user = (...content: readonly JsonObject[]) => ({ role: 'user', content })
const call = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] })
const result = (tool_use_id: string, content = 'ok') => ({ type: 'tool_result', tool_use_id, content })
const text = (said: string) => ({ type: 'text', text: said })

describe('the effort of reasoning', () => {
  const messages = [user(text('hi'))]
  const effortOf = (effort: string, profile: Partial<TargetProfile>) =>
    fitted({ messages, output_config: { effort } }, profile)

  test('is the nearest that the target takes', () => {
    for (const [asked, expected] of [
      ['minimal', 'low'],
      ['max', 'high'],
    ] as const)
      expect(effortOf(asked, { efforts: ['low', 'high'] })).toMatchObject({
        output_config: { effort: expected },
        adjusted: ['output_config.effort'],
      })
    expect(effortOf('none', { efforts: [] })).not.toHaveProperty('output_config')
    for (const efforts of [undefined, ['max'] as const]) expect(effortOf('max', { efforts })).toBeUndefined()
  })
})

describe('images for a target that compares their labels', () => {
  const profile = { comparesImages: true }

  test('have the type of their bytes, in results too', () => {
    const wrong = image('image/png', '/9j/4AAQ')
    const right = image('image/jpeg', '/9j/4AAQ')
    const messages = [user(wrong, right), call('a'), user({ ...result('a'), content: [wrong] })]
    expect(fitted({ messages }, profile)).toMatchObject({
      messages: [user(right, right), call('a'), user({ ...result('a'), content: [right] })],
      adjusted: ['messages.image.media_type'],
    })
  })

  test('keep their bytes where the labels are right, and where the bytes are of another kind', () => {
    const unknown = image('image/png', 'AAAA')
    for (const each of [image('image/png', 'iVBORw0KGgoA'), image('image/webp', 'UklGRgAA'), unknown])
      expect(fitted({ messages: [user(each)] }, profile)).toBeUndefined()
  })
})

describe('calls for a target that needs their results', () => {
  const profile = { pairedCalls: true }

  test('get a result where they were interrupted', () => {
    const missing = { ...result('a', interruptedText), is_error: true }
    expect(fitted({ messages: [call('a'), user(text('go on'))] }, profile)).toMatchObject({
      messages: [call('a'), user(missing, text('go on'))],
      adjusted: ['messages'],
    })
    expect(fitted({ messages: [call('a')] }, profile)).toMatchObject({ messages: [call('a'), user(missing)] })
  })

  test('that were cut off leave their results as text', () => {
    expect(fitted({ messages: [user(text('hi')), user(result('x', 'sun'), text('more'))] }, profile)).toMatchObject({
      messages: [user(text('hi'), text(orphanText), text('sun'), text('more'))],
    })
  })

  test('in order keep their bytes', () => {
    const messages = [user(text('hi')), call('a'), user(result('a'), text('and?')), call('b'), user(result('b'))]
    expect(fitted({ messages }, profile)).toBeUndefined()
  })
})

describe('marks of caches', () => {
  const marked = (said: string) => ({ ...text(said), cache_control: { type: 'ephemeral' } })

  test('are the last ones that the target takes, in the order of the prompt', () => {
    const body = {
      system: [marked('s')],
      tools: [{ name: 'f', input_schema: { properties: { cache_control: {} } }, cache_control: { type: 'ephemeral' } }],
      messages: [user({ ...result('a'), content: [marked('1')] }, marked('2')), user(marked('3'), marked('4'))],
    }
    expect(fitted(body, { cacheMarks: 3 })).toMatchObject({
      system: [text('s')],
      tools: [{ name: 'f', input_schema: { properties: { cache_control: {} } } }],
      messages: [user({ ...result('a'), content: [text('1')] }, marked('2')), user(marked('3'), marked('4'))],
      adjusted: ['cache_control'],
    })
    expect(JSON.stringify(fitted(body, { cacheMarks: 3 })).split('"ephemeral"')).toHaveLength(4)
    expect(fitted(body, { cacheMarks: 6 })).toBeUndefined()
  })
})
