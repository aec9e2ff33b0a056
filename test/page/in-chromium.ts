import { afterAll, beforeAll, beforeEach, describe } from 'bun:test'
import { startChromium, type Chromium, type Person, type PersonOptions, type Tab } from '../fakes/chromium.ts'
import { needs } from '../needs.ts'

const executable = needs('chromium')
const wide: PersonOptions = { viewport: { width: 1280, height: 800 } }

/** What a test of the page finds. */
export interface Scene<Rig> {
  readonly chromium: Chromium
  /** A service and what is beside it: the same for all tests. */
  readonly rig: Rig
  /** Somebody who has been nowhere yet: another one for every test. */
  readonly person: Person
  /** Their first tab. */
  readonly tab: Tab
}

/** `describe`, skipped on machines without Chromium. */
export const describeInChromium = describe.skipIf(executable === undefined)

/**
 * Sets the tests of a file, or of a `describe`, before Chromium and what `start` gives: started once, stopped after the last. `enter` is told before every
 * test what it finds.
 *
 *     let rig: Rig, tab: Tab
 *     inChromium(() => startRig([good()]), (scene) => ({ rig, tab } = scene))
 */
export function inChromium<Rig extends AsyncDisposable>(start: () => Promise<Rig>, enter: (scene: Scene<Rig>) => unknown, look: PersonOptions = wide): void {
  if (executable === undefined) return
  let chromium: Chromium, rig: Rig
  beforeAll(async () => {
    [chromium, rig] = await Promise.all([startChromium(executable), start()])
  })
  afterAll(async () => {
    await chromium.close()
    await rig[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    const person = chromium.person(look)
    await enter({ chromium, rig, person, tab: person.tab() })
  })
}
