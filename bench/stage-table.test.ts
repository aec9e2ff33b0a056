import { expect, test } from 'bun:test'
import type { Measurement } from './measures/measure.ts'
import { stageTable } from './stage-table.ts'

function cpu(round: number, proxy: string, value: number): Measurement {
  return { measure: 'rate-1000', round, proxy, metric: 'cpuUs', value }
}

test('stageTable shows what each stage adds to the one before, in the same round', () => {
  const measurements = [
    cpu(1, 'raw', 100),
    cpu(1, 'transport', 120),
    cpu(2, 'raw', 200),
    cpu(2, 'transport', 230),
    cpu(1, 'exchange', 150),
  ]
  const rows = stageTable('rate-1000', 'request', measurements)
    .split('\n')
    .map((row) => row.split('|').map((cell) => cell.trim()))
  const rowOf = (name: string): readonly string[] | undefined => rows.find((row) => row[1] === name)?.slice(2, 7)
  expect(rowOf('raw')).toEqual(['150 (100–200)', '–', '–', '1.00', ''])
  expect(rowOf('transport')).toEqual(['175 (120–230)', '–', '–', '1.17 (1.15–1.20)', '25.0 (20.0–30.0)'])
  // Its stage before was not measured.
  expect(rowOf('exchange')).toEqual(['150', '–', '–', '1.50', '–'])
})
