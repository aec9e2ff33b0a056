import { join } from 'node:path'

/**
 * Checks the types of all projects, and prints faults. Results are kept in node_modules/.cache, so that the next run
 * only looks at changed files and those that depend on them. Exits with the worst exit code of the compiler.
 */

const root = join(import.meta.dir, '..')
const projects = ['tsconfig.json', join('web', 'tsconfig.json'), join('web', 'tests.tsconfig.json')]

for (const project of projects) {
  const cache = join(root, 'node_modules', '.cache', 'types', project.replaceAll('/', '-'))
  const { exitCode } = Bun.spawnSync(
    [
      'node',
      join('node_modules', 'typescript', 'bin', 'tsc'),
      ...['--noEmit', '--incremental', '--tsBuildInfoFile', cache, '-p', project],
    ],
    { cwd: root, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' },
  )
  if (exitCode !== 0) process.exitCode = exitCode
}
