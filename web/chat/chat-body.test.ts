import { describe, expect, test } from 'bun:test'
import { chatBody } from './chat-body.ts'
import { answerMessage, userMessage } from './testing.ts'

const settings = { model: 'm', system: '', parameters: {} }

describe('chatBody', () => {
  test('requests a stream with usage', () => {
    expect(chatBody(settings, [userMessage('hello')])).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('requests a whole answer if streaming is off', () => {
    expect(chatBody({ ...settings, parameters: { stream: false } }, [userMessage('hello')])).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }],
      stream: false,
    })
  })

  test('puts the system prompt first, unless it is blank', () => {
    expect(chatBody({ ...settings, system: 'Be brief.' }, [userMessage('hello')]).messages[0]).toEqual({
      role: 'system',
      content: 'Be brief.',
    })
    expect(chatBody({ ...settings, system: ' \n' }, [userMessage('hello')]).messages).toHaveLength(1)
  })

  test('sends the parameters that are set, and no others', () => {
    const body = chatBody({ ...settings, parameters: { temperature: 0, stop: ['x'], logprobs: true } }, [
      userMessage('hello'),
    ])
    expect(Object.keys(body).toSorted()).toEqual([
      'logprobs',
      'messages',
      'model',
      'stop',
      'stream',
      'stream_options',
      'temperature',
    ])
    expect(body.temperature).toBe(0)
  })

  test('leaves out parameters out of range, as in an imported file', () => {
    const body = chatBody({ ...settings, parameters: { temperature: 5, seed: 1.5, stop: [], top_p: 1 } }, [
      userMessage('hello'),
    ])
    expect(Object.keys(body).toSorted()).toEqual(['messages', 'model', 'stream', 'stream_options', 'top_p'])
  })

  test('sends images as parts, after the text if there is one', () => {
    const image = { id: 'i', name: 'a.png', dataUrl: 'data:image/png;base64,AA==', width: 1, height: 1 }
    const picture = { type: 'image_url', image_url: { url: image.dataUrl } } as const
    expect(chatBody(settings, [userMessage('what is it?', [image])]).messages[0]?.content).toEqual([
      { type: 'text', text: 'what is it?' },
      picture,
    ])
    expect(chatBody(settings, [userMessage('', [image])]).messages[0]?.content).toEqual([picture])
  })

  test('leaves out answers without text, and reasoning', () => {
    const messages = [
      userMessage('a'),
      answerMessage({ text: '', status: 'failed' }),
      userMessage('b'),
      answerMessage({ text: 'c', reasoning: 'hm' }),
      userMessage('d'),
    ]
    expect(chatBody(settings, messages).messages.map(({ role, content }) => `${role} ${String(content)}`)).toEqual([
      'user a',
      'user b',
      'assistant c',
      'user d',
    ])
  })

  test('trims the end of the answer to continue, and of no other', () => {
    const messages = [
      userMessage('a'),
      answerMessage({ text: 'b \n' }),
      userMessage('c'),
      answerMessage({ text: 'd \n' }),
    ]
    expect(chatBody(settings, messages).messages.map(({ content }) => content)).toEqual(['a', 'b \n', 'c', 'd'])
  })
})
