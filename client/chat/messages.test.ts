import { expect, test } from 'bun:test'
import { readMessages, textOfMessage, userMessage } from './messages.ts'

test('texts of files follow the question, fenced, and pictures are parts of their own', () => {
  const files = [
    { kind: 'text', name: 'a.md', text: 'x\n````\ny' },
    { kind: 'picture', url: 'data:image/png;base64,AA==' },
  ] as const
  const message = userMessage('What is this?', files)
  const text = 'What is this?\n\na.md:\n`````\nx\n````\ny\n`````'
  expect(message).toEqual({
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ],
  })
  expect(textOfMessage(message)).toBe(text)
  expect(readMessages([message])).toEqual([message])
})
