import { expect, test } from 'bun:test'
import { contextOf } from '../testing.ts'
import { previewRoute } from './preview.ts'

test('the document of a preview runs its own script only, loads nothing, and is framed by the page alone', async () => {
  const response = await previewRoute().handle(contextOf(new Request('http://127.0.0.1/preview')))
  const [, script = ''] = /<script>([^]*)<\/script>/.exec(await response.text()) ?? []
  const hash = new Bun.CryptoHasher('sha256').update(script).digest('base64')
  expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    'media-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ])
})
