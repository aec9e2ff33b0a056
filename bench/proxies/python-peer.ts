import { join } from 'node:path'
import { installOnce, peerFolder } from '../peers-folder.ts'
import { runProgram } from '../processes.ts'

const limitMs = 10 * 60_000

/** Folder of a peer's virtual environment. */
export function venvOf(name: string): string {
  return join(peerFolder(name), '.venv')
}

/**
 * Installs a package of PyPI into its own environment, from wheels only, so that no code of it runs meanwhile. @throws
 * ProgramError when that fails or takes 10 min
 */
export function installPythonPeer(name: string, requirement: string): Promise<void> {
  return installOnce(name, requirement, async () => {
    await runProgram(['python3', '-m', 'venv', '--clear', venvOf(name)], limitMs)
    const pip = [
      join(venvOf(name), 'bin/python'),
      '-m',
      'pip',
      'install',
      '--quiet',
      '--only-binary',
      ':all:',
      requirement,
    ]
    await runProgram(pip, limitMs)
  })
}

/** `litellm/1.106.2 (Python 3.11.7)`. */
export async function pythonPeerVersion(name: string, distribution: string): Promise<string> {
  const python = join(venvOf(name), 'bin/python')
  const script = [
    'import importlib.metadata, platform, sys',
    'print(importlib.metadata.version(sys.argv[1]))',
    'print(platform.python_version())',
  ].join('; ')
  const [version = '?', pythonVersion = '?'] = (await runProgram([python, '-c', script, distribution], 30_000))
    .trim()
    .split('\n')
  return `${name}/${version} (Python ${pythonVersion})`
}
