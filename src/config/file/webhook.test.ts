import { expect, test } from 'bun:test'
import { readWebhookSecret } from './webhook.ts'

const bytes = (count: number) => Buffer.alloc(count, 7).toString('base64')

test.each([
  [bytes(24), bytes(24)],
  [`whsec_${bytes(64)}`, bytes(64)],
  [` whsec_${bytes(32)}\n`, bytes(32)],
])('the secret of a webhook in %p is %p', (text, secret) => {
  expect(readWebhookSecret({ url: '', secretName: 'HOOK' }, { HOOK: text })).toEqual({ secret })
})

test.each([undefined, '', 'whsec_', bytes(23), bytes(65), 'whpk_AAAA', `${bytes(32)} and more`, `$${bytes(30)}`])(
  'the secret of a webhook is not usable in %p, which is not quoted',
  (text) => {
    const { fault = '' } = readWebhookSecret({ url: '', secretName: 'HOOK' }, { HOOK: text })
    expect(fault).toStartWith('HOOK is not ')
    if (text !== undefined && text !== '') expect(fault).not.toContain(text.slice(-8))
  },
)
