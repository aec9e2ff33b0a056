import { describe, expect, test } from 'bun:test'
import type { ChatSettings } from '../history/conversation.ts'
import { asStanding, isStanding, type Preset } from './preset.ts'
import { hasStanding, standingPreset, withoutStanding, withStanding, type StandingPreset } from './standing-preset.ts'

/** Local storage in memory. */
function storage(text?: string) {
  const values = new Map(text === undefined ? [] : [['svc.standing-preset.anon', text]])
  const localStorage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  }
  return Object.assign(new EventTarget(), { localStorage })
}

const preset: Preset = { name: 'brief', id: 'c1', system: 'Be brief.', parameters: { stop: ['.'] }, isShared: false }
const standing: StandingPreset = { name: 'brief', id: 'c1', system: 'Be brief.', parameters: { stop: ['.'] } }
const empty: ChatSettings = { system: '', parameters: {} }

describe('the preset for every new conversation', () => {
  test('is stored for each user, and removed again', () => {
    const window = storage()
    const own = standingPreset('ada', window)
    expect(own.get()).toBeUndefined()
    expect(own.set(standing)).toBe(true)
    expect([own.get(), standingPreset('grace', window).get()]).toEqual([standing, undefined])
    own.set(undefined)
    expect(own.get()).toBeUndefined()
  })

  test.each(['', 'x', '[]', '{"name":1,"system":""}', '{"name":"a"}'])('is not read from %p', (text) => {
    expect(standingPreset(undefined, storage(text)).get()).toBeUndefined()
  })

  test('has settings, and no variables', () => {
    expect(asStanding({ ...preset, prompt: 'About {{it}}' })).toEqual(standing)
    expect(asStanding({ ...preset, system: 'About {{it}}' })).toBeUndefined()
    expect(asStanding({ name: 'hello', prompt: 'Hello', isShared: true })).toBeUndefined()
  })

  test('is an own one by its id, a shared one by its name', () => {
    const shared = { ...preset, id: 'c2', isShared: true }
    expect([isStanding({ ...preset, name: 'new' }, standing), isStanding(shared, standing)]).toEqual([true, false])
    expect([isStanding(shared, asStanding(shared)), isStanding(preset, asStanding(shared))]).toEqual([true, false])
  })

  test('is added to settings, and taken away as far as they are as it set them', () => {
    const begun = withStanding({ ...empty, model: 'm' }, standing)
    expect(begun).toEqual({ model: 'm', system: 'Be brief.', parameters: { stop: ['.'] } })
    expect(hasStanding(begun, standing)).toBe(true)
    expect(withoutStanding(begun, standing)).toEqual({ ...empty, model: 'm' })
    const changed = { ...begun, system: 'Mine.', parameters: { stop: ['.'], seed: 1 } }
    expect(hasStanding(changed, standing)).toBe(false)
    expect(withoutStanding(changed, standing)).toEqual({ model: 'm', system: 'Mine.', parameters: { seed: 1 } })
  })

  test('that only has a model counts by it', () => {
    const model: StandingPreset = { ...empty, name: 'm', model: 'gpt' }
    expect([hasStanding({ ...empty, model: 'gpt' }, model), hasStanding(empty, model)]).toEqual([true, false])
    expect(withoutStanding(withStanding(empty, model), model)).toEqual(empty)
  })
})
