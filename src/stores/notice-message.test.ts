import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { messageLengthMost, parseNoticeMessage, writeNoticeMessage } from './notice-message.ts'
import { noticeKeptMsMost, noticeLengthMost } from './store.ts'

test('a notice › is read as it was written, whatever it says, and is never too long', () => {
  const kept = fc.option(fc.record({ key: fc.string(), ms: fc.nat(noticeKeptMsMost) }), { nil: undefined })
  const ago = fc.option(fc.double({ min: 0, max: noticeKeptMsMost }), { nil: undefined })
  fc.assert(
    fc.property(
      fc.string(),
      fc.string({ unit: 'binary', maxLength: noticeLengthMost / 2 }),
      kept,
      ago,
      (from, text, kept, agoMs) => {
        const message = writeNoticeMessage(from.slice(0, 36), text, kept, agoMs)
        expect(parseNoticeMessage(message)).toEqual({
          from: from.slice(0, 36),
          text,
          ...(kept === undefined ? {} : { keptMs: kept.ms }),
        })
      },
    ),
    { examples: [['', '\ud800'.repeat(noticeLengthMost), undefined, undefined]] },
  )
})

test('what anybody may have written › is a notice or none, and nothing else happens', () => {
  const almost = fc
    .record({ from: fc.anything(), text: fc.anything(), keptMs: fc.anything() }, { requiredKeys: [] })
    .map((value) => JSON.stringify(value))
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), almost), (message) => {
      const notice = parseNoticeMessage(message)
      if (notice !== undefined)
        expect([typeof notice.from, typeof notice.text, notice.text.length <= noticeLengthMost]).toEqual([
          'string',
          'string',
          true,
        ])
    }),
  )
  expect(parseNoticeMessage(JSON.stringify({ from: 'x'.repeat(messageLengthMost), text: '' }))).toBeUndefined()
})
