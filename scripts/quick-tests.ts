import { dirname, join } from 'node:path'

const testFiles = '{bench,client,lab,scripts,src,test,web}/**/*.test.{ts,tsx}'
/** Tests beside the code. Those of test/ and lab/ start the service, browsers and servers. */
const besideCode = /^(?:bench|client|scripts|src|web)\/|^test\/architecture\.test\.ts$/
const relativeImport = /\bfrom '(\.[^']+\.tsx?)'/g

/** Paths of all tests below `root`, sorted. */
export function allTests(root: string): readonly string[] {
  return [...new Bun.Glob(testFiles).scanSync(root)].filter((path) => !path.includes('node_modules')).toSorted()
}

/** Paths of the tests of `npm run test:quick`: they need no browser, no server and no long time. */
export async function quickTests(root: string): Promise<readonly string[]> {
  const candidates = allTests(root).filter((path) => besideCode.test(path))
  const areQuick = await Promise.all(candidates.map(async (path) => !(await imports(join(root, path), needs(root)))))
  return candidates.filter((_, index) => areQuick[index])
}

/**
 * Durations of all tests for `bun test --timings`, estimated by the sizes of their files. A byte takes about 2 ms in
 * test/page/, where Chromium runs, 0.5 ms elsewhere in test/ and lab/, where tests start processes, and 0.05 ms beside
 * the code.
 */
export function estimatedTimings(root: string): {
  readonly version: 1
  readonly files: Readonly<Record<string, number>>
} {
  const durationOf = (path: string): number =>
    Bun.file(join(root, path)).size * (path.startsWith('test/page/') ? 2 : besideCode.test(path) ? 0.05 : 0.5)
  return { version: 1, files: Object.fromEntries(allTests(root).map((path) => [path, Math.ceil(durationOf(path))])) }
}

/** A test that needs programs of the machine asks this module for them. */
function needs(root: string): string {
  return join(root, 'test', 'needs.ts')
}

async function imports(path: string, wanted: string, seen = new Set<string>()): Promise<boolean> {
  if (path === wanted) return true
  if (seen.has(path)) return false
  seen.add(path)
  const text = await Bun.file(path).text()
  for (const [, target = ''] of text.matchAll(relativeImport))
    if (await imports(join(dirname(path), target), wanted, seen)) return true
  return false
}
