import { expect, test } from 'bun:test'
import { formats } from './format-list.ts'
import { readRequestSettings } from './request-settings.ts'

test('numbers among the settings of a request are read, and no text is', () => {
  const messages = [{ role: 'user', content: 'temperature' }]
  const body = { model: 'm', messages, temperature: 0.5, top_p: null, seed: 7, stop: ['secret'], n: 2, max_tokens: 30 }
  const ask = formats.chat.check(new TextEncoder().encode(JSON.stringify(body)), {
    ...{ path: '', headers: new Headers(), parameter: () => null },
  })
  expect(readRequestSettings(ask)).toEqual({ temperature: 0.5, seed: 7, choices: 2, answerTokensMax: 30 })
})
