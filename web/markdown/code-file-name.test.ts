import { expect, test } from 'bun:test'
import { codeFileName } from './code-file-name.ts'

test.each([
  ['ts', 'ts', 'code.ts'],
  ['python', 'python', 'code.py'],
  ['jsx', 'jsx', 'code.jsx'],
  ['shell', 'shell', 'code.sh'],
  ['c#', 'c#', 'code.cs'],
  ['html', 'html', 'code.html'],
  ['', '', 'code.txt'],
  ['../../x', '../../x', 'code.txt'],
  ['ts main.ts', 'ts', 'main.ts'],
  ['ts src/app/main.test.ts', 'ts', 'main.test.ts'],
  ['ts title="main.ts"', 'ts', 'main.ts'],
  ['py:app.py', 'py', 'app.py'],
  ['x ../../.bashrc', 'x', 'code.txt'],
  ['x a\u202Etxt.exe', 'x', 'code.txt'],
  [`x ${'a'.repeat(100)}.ts`, 'x', 'code.txt'],
])('code of %p is saved as a file of its language', (info, language, expected) => {
  expect(codeFileName(info, language)).toBe(expected)
})
