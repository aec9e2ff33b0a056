import { afterAll, beforeAll, beforeEach, describe } from 'bun:test'
import { startChromium, type Chromium, type Person, type PersonOptions, type Tab } from '../fakes/chromium.ts'
import { needs } from '../needs.ts'

const executables = {
  chromium: needs('chromium'),
  'chromium-headless-shell': needs('chromium-headless-shell'),
} as const

/** A window as people have it on a desk. */
export const wide: PersonOptions = { viewport: { width: 1280, height: 800 } }

/** What a test of the page finds. */
export interface Scene<Rig> {
  /** A service and what is beside it: the same for all tests. */
  readonly rig: Rig
  /** Somebody who has been nowhere yet: another one for every test. */
  readonly person: Person
  /** Their first tab. */
  readonly tab: Tab
}

/** `describe`, skipped on machines without Chromium. */
export const describeInChromium = describe.skipIf(executables.chromium === undefined)

/**
 * Chromium for the tests of a file: started before the first, closed after the last. Before each of them everybody
 * leaves, for what stays open goes on working.
 *
 * @param form the whole browser, as people have it, takes three times the CPU time
 */
export function useChromium(form: keyof typeof executables = 'chromium-headless-shell'): Pick<Chromium, 'person'> {
  const executable = executables[form]
  let chromium: Chromium | undefined
  if (executable !== undefined) {
    beforeAll(async () => {
      chromium = await startChromium(executable)
    })
    afterAll(() => chromium?.close())
    beforeEach(() => chromium?.empty())
  }
  return {
    person(options) {
      if (chromium === undefined)
        throw new Error('there is no Chromium yet, or none on this machine: tests of it are in describeInChromium')
      return chromium.person(options)
    },
  }
}

/** How {@link inChromium} is to set the scene. */
export interface ChromiumOptions {
  readonly look?: PersonOptions
  /** Default: that of {@link useChromium}. */
  readonly form?: keyof typeof executables
}

/**
 * Sets the tests of a file, or of a `describe`, before Chromium and what `start` gives: started once, stopped after the
 * last. `enter` is told before every test what it finds.
 *
 *     let rig: Rig, tab: Tab
 *     inChromium(
 *       () => startRig([good()]),
 *       (scene) => ({ rig, tab } = scene),
 *     )
 */
export function inChromium<Rig extends AsyncDisposable>(
  start: () => Promise<Rig>,
  enter: (scene: Scene<Rig>) => unknown,
  { look = wide, form }: ChromiumOptions = {},
): void {
  if (executables.chromium === undefined) return
  const chromium = useChromium(form)
  let rig: Rig
  beforeAll(async () => {
    rig = await start()
  })
  afterAll(() => rig[Symbol.asyncDispose]())
  beforeEach(async () => {
    const person = chromium.person(look)
    await enter({ rig, person, tab: person.tab() })
  })
}
