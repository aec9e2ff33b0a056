import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { router } from '../route.ts'
import { contextOf } from '../testing.ts'
import type { PresetChange } from './page-api.ts'
import { parsePresetChange, presetsApi } from './presets-api.ts'

const full = { presets: [{ name: 'a' }], file: '/home/presets.json', version: 'v', fault: 'line 1' }

async function ask(request: Request, isOwner: boolean): Promise<{ body: unknown; changes: PresetChange[] }> {
  const changes: PresetChange[] = []
  const routes = router(
    presetsApi({
      state: async () => full,
      async change(change) {
        changes.push(change)
        return full
      },
      isOwner: () => isOwner,
      bodyTimes: { totalMs: 1_000, idleMs: 1_000 },
    }),
  )
  const response = await routes.find(request.method, '/api/presets').handle(contextOf(request))
  return { body: await response.json(), changes }
}

function outcome(text: string): unknown {
  try {
    return parsePresetChange(new TextEncoder().encode(text))
  } catch (error) {
    if (error instanceof WireError) return [error.status, error.code, error.param]
    throw error
  }
}

describe('GET /api/presets', () => {
  test('has the file and its fault for owners only', async () => {
    expect((await ask(new Request('http://x/api/presets'), true)).body).toEqual(full)
    expect((await ask(new Request('http://x/api/presets'), false)).body).toEqual({ presets: [{ name: 'a' }] })
  })
})

describe('POST /api/presets', () => {
  const body = JSON.stringify({ version: 'v', name: 'b', before: 'a', preset: { system: 'x' } })
  const post = (text: string): Request => new Request('http://x/api/presets', { method: 'POST', body: text })

  test('changes a preset, for owners', async () => {
    const { changes } = await ask(post(body), true)
    expect(changes).toEqual([{ version: 'v', name: 'b', before: 'a', preset: { system: 'x' } }])
    const refused = await ask(post(body), false).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 403, code: 'owners_only' })
  })

  test('refuses a body that is too large', async () => {
    const refused = await ask(post('x'.repeat(600 * 1024)), true).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 413 })
  })

  test.each([
    ['{"version":"v","name":"a","preset":null}', { version: 'v', name: 'a', preset: null }],
    ['{"version":"v","name":"a","before":null,"preset":{}}', { version: 'v', name: 'a', preset: {} }],
    ['{"version":"v","name":"a"}', [400, 'missing_required_parameter', 'preset']],
    ['{"version":"v","name":"a","preset":[]}', [400, 'invalid_type', 'preset']],
    ['{"version":"v","preset":{}}', [400, 'missing_required_parameter', 'name']],
    ['{"version":"v","name":"__proto__","preset":{}}', [400, 'invalid_value', 'name']],
    ['{"version":5,"name":"a","preset":{}}', [400, 'invalid_type', 'version']],
    ['{"version":"v","name":"a","before":"","preset":{}}', [400, 'invalid_value', 'before']],
  ])('reads %s', (text, expected) => {
    expect(outcome(text)).toEqual(expected)
  })
})
