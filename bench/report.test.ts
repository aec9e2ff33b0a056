import { describe, expect, test } from 'bun:test'
import { reportJson, reportMarkdown, type BenchRun } from './report.ts'

const run: BenchRun = {
  date: '2026-01-02',
  machine: { processor: 'CPU', cores: 2, memoryGb: 8, kernel: '6.1.0', system: 'Debian', loadBefore: 0.25 },
  stealPercent: 1.25,
  rounds: 1,
  seconds: 2,
  measures: ['plain'],
  proxies: [
    { name: 'serve-raw', version: 'bun/1', setup: 'as is' },
    { name: 'svc', version: 'svc/1', setup: 'as is' },
  ],
  notes: ['haproxy: not installed'],
  measurements: [
    { measure: 'plain', round: 1, proxy: 'serve-raw', metric: 'cpuUs', value: 20 },
    { measure: 'plain', round: 1, proxy: 'svc', metric: 'cpuUs', value: 60 },
  ],
}

describe('reportMarkdown', () => {
  const text = reportMarkdown(run)

  test('compares figures with targets', () => {
    expect(text).toMatch(/against serve-raw +\| +≤ 2\.3 × \| +3\.00 \| +missed by 30 % \|/)
  })

  test('has no section for a measure that was not requested', () => {
    expect(text).not.toContain('Resident memory')
  })

  test('tells how quiet the machine was', () => {
    expect(text).toContain('Load average before the run: 0.3; taken by the host during it (steal): 1.3 % of the time.')
  })

  test('lists what was left out', () => {
    expect(text).toContain('- haproxy: not installed')
  })
})

describe('reportJson', () => {
  test('is JSON with every figure', () => {
    expect(JSON.parse(reportJson(run))).toMatchObject({ measurements: run.measurements, notes: run.notes })
  })

  test('is JSON when nothing was measured', () => {
    expect(JSON.parse(reportJson({ ...run, measurements: [] }))).toMatchObject({ measurements: [] })
  })
})
