import { join } from 'node:path'

/**
 * `npm run check`: format, lint, dead exports and types, all at once, since each of them uses little more than one
 * core. Prints what the failed ones printed, and exits with the worst exit code.
 *
 * Results of the compiler are kept in node_modules/.cache, so that the next run only looks at changed files and those
 * that depend on them.
 */

const root = join(import.meta.dir, '..')
const projects = ['tsconfig.json', join('web', 'tsconfig.json'), join('web', 'tests.tsconfig.json')]
const own = join('node_modules', '.bin')

const checks: Readonly<Record<string, readonly (readonly string[])[]>> = {
  format: [[join(own, 'oxfmt'), '--check', '.']],
  lint: [[join(own, 'oxlint'), '--quiet']],
  'dead exports': [[join('test', own, 'knip'), '--no-progress']],
  types: projects.map((project) => {
    const cache = join(root, 'node_modules', '.cache', 'types', project.replaceAll('/', '-'))
    return [join(own, 'tsc'), '--noEmit', '--incremental', '--tsBuildInfoFile', cache, '-p', project]
  }),
}

/** Runs the commands of a check, one after the other. */
async function check(name: string, commands: readonly (readonly string[])[]): Promise<void> {
  for (const command of commands) {
    const child = Bun.spawn([...command], { cwd: root, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
    const [out, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code === 0) continue
    console.log([`${name}:`, out.trimEnd(), errors.trimEnd()].filter((text) => text !== '').join('\n'))
    process.exitCode = Math.max(Number(process.exitCode ?? 0), code)
  }
}

await Promise.all(Object.entries(checks).map(([name, commands]) => check(name, commands)))
