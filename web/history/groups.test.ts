import { expect, test } from 'bun:test'
import { folderNames } from './folder-names.ts'
import { groupsOf } from './groups.ts'

const now = new Date(2026, 10, 19, 15, 0) // A Thursday.

function groupOf(updated: Date, changes: { readonly isPinned?: boolean } = {}, at: Date = now): string | undefined {
  return groupsOf(
    [{ id: 'c', title: 'T', isPinned: false, created: 0, updated: updated.getTime(), messageCount: 1, ...changes }],
    at,
  )[0]?.label
}

test.each([
  [new Date(2026, 10, 19, 14, 59), 'Today'],
  [new Date(2026, 10, 19, 0, 0), 'Today'],
  [new Date(2026, 10, 25), 'Today'],
  [new Date(2026, 10, 18, 23, 59), 'Yesterday'],
  [new Date(2026, 10, 18), 'Yesterday'],
  [new Date(2026, 10, 17, 23, 59), 'This week'],
  [new Date(2026, 10, 16), 'This week'],
  [new Date(2026, 10, 15, 23, 59), 'November 2026'],
  [new Date(2026, 9, 31), 'October 2026'],
  [new Date(2025, 10, 19), 'November 2025'],
])('%p belongs to %p', (updated, label) => {
  expect(groupOf(updated)).toBe(label)
})

test('pinned conversations form a group, for any date', () => {
  expect(groupOf(new Date(2020, 0, 1), { isPinned: true })).toBe('Pinned')
})

test('a week starts on Monday', () => {
  expect(groupOf(new Date(2026, 10, 14), {}, new Date(2026, 10, 16, 9))).toBe('November 2026')
  expect(groupOf(new Date(2026, 10, 15, 23), {}, new Date(2026, 10, 16, 9))).toBe('Yesterday')
  expect(groupOf(new Date(2026, 10, 16), {}, new Date(2026, 10, 22, 9))).toBe('This week')
})

test('groups keep the order of the list', () => {
  const heads = [
    [2025, 0],
    [2024, 5],
    [2024, 5],
    [2023, 1],
  ].map(([year = 0, at = 0], index) => ({
    id: `c${index}`,
    title: '',
    isPinned: false,
    created: 0,
    updated: new Date(year, at, 2).getTime(),
    messageCount: 0,
  }))
  expect(
    groupsOf(heads, now).map(({ label, heads: those }) => `${label}: ${those.map(({ id }) => id).join(' ')}`),
  ).toEqual(['January 2025: c0', 'June 2024: c1 c2', 'February 2023: c3'])
})

test('folders stand by name between the pinned ones and the dates, and list nothing while closed', () => {
  const heads = [
    { id: 'pinned', isPinned: true, folder: 'Work 10' },
    { id: 'a', isPinned: false, folder: 'Work 10' },
    { id: 'b', isPinned: false },
    { id: 'c', isPinned: false, folder: 'Today' },
    { id: 'd', isPinned: false, folder: 'Work 9' },
  ].map((head) => ({ title: '', created: 0, updated: now.getTime(), messageCount: 0, ...head }))
  const shown = groupsOf(heads, now, ['Work 9', 'gone']).map(
    ({ folder, label, count, heads: those }) =>
      `${folder === undefined ? '' : '/'}${label} ${count}: ${those.map(({ id }) => id).join(' ')}`,
  )
  expect(shown).toEqual(['Pinned 1: pinned', '/Today 1: c', '/Work 9 1: ', '/Work 10 1: a', 'Today 1: b'])
  expect(folderNames(heads)).toEqual(['Today', 'Work 9', 'Work 10'])
})
