import { expect, test } from 'bun:test'
import { ConfigError } from '../config/config.ts'
import { reloadNotice } from './reload-notice.ts'

test('a notice has a line a fault, harmless to show', () => {
  const error = new ConfigError([
    { file: 'p.json', line: 3, column: 5, field: 'x', found: '"\u202e"', allowed: 'a word' },
    { file: 'p.json', field: '', found: 'nothing', allowed: 'a file' },
  ])
  expect(reloadNotice(error, 5)).toEqual({
    time: 5,
    faults: ['p.json:3:5: x: found "\\u202e", allowed: a word', 'p.json: found nothing, allowed: a file'],
  })
})

test('a notice of a mistake of ours tells nothing of it', () => {
  expect(reloadNotice(new TypeError('with a-key-for-tests in it'), 5)).toEqual({
    time: 5,
    faults: ['internal error; see the service log'],
  })
})
