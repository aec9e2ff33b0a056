import { afterAll, beforeAll, test } from 'bun:test'
import type { Script } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { startRigs, type RigOptions, type Rigs, type Row } from '../rig.ts'

/** A case of {@link testOnRows}. */
interface Case {
  /** Replaces `%s` in the title. */
  readonly words: string
  /** Scripts of the upstreams. */
  readonly scripts: readonly Script[]
}

/**
 * Like `test.each`, for tests of providers: each case has its own upstreams, and all share one service, whose start
 * takes longer than a test. Not for tests of a whole service, such as its metrics or limits.
 *
 *     testOnRows('%s › moves on', [{ words: '500', scripts: [status(500), good()] }], async (row) => { … })
 */
export function testOnRows<Given extends Case>(
  title: string,
  table: readonly Given[],
  run: (row: Row, given: Given) => Promise<void>,
  options: Omit<RigOptions, 'each'> = {},
): void {
  let rigs: Rigs
  beforeAll(async () => {
    rigs = await startRigs(
      table.map(({ scripts }) => scripts),
      options,
    )
  })
  afterAll(() => rigs[Symbol.asyncDispose]())
  for (const [index, given] of table.entries())
    test(title.replace('%s', given.words), () => run(rigs.row(index), given))
}

/** Makes cases with each script at the first provider, and a good second provider. */
export function beforeGood(table: readonly (readonly [words: string, script: Script])[]): readonly Case[] {
  return table.map(([words, script]) => ({ words, scripts: [script, good()] }))
}
