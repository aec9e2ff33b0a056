import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Ranking } from './ranking.ts'

interface Player {
  readonly name: number
  points: number
}

function isBefore(one: Player, other: Player): boolean {
  return one.points !== other.points ? one.points > other.points : one.name < other.name
}

/** The first, the first of those who are left, and so on. */
function drain(ranking: Ranking<Player>): readonly Player[] {
  const order: Player[] = []
  for (let { first } = ranking; first !== undefined; { first } = ranking) {
    order.push(first)
    ranking.remove(first)
  }
  return order
}

describe('a ranking', () => {
  test('knows the first item while items come, change, go and come again', () => {
    const step = fc.record({ name: fc.nat(30), points: fc.option(fc.nat(99), { nil: undefined, freq: 2 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const players = Array.from({ length: 31 }, (_, name): Player => ({ name, points: 0 }))
        const ranking = new Ranking(isBefore),
          present = new Set<Player>()
        for (const { name, points } of steps) {
          const player = players[name] ?? { name, points: 0 }
          if (points === undefined) {
            ranking.remove(player)
            present.delete(player)
          } else {
            player.points = points
            present.add(player)
            ranking.update(player)
          }
        }
        expect(drain(ranking)).toEqual([...present].toSorted((one, other) => (isBefore(one, other) ? -1 : 1)))
      }),
    )
  })

  test('keeps its order when the last item replaces one in another branch', () => {
    const ranking = new Ranking(isBefore)
    const players = [100, 50, 90, 40, 45, 80, 85].map((points, name): Player => ({ name, points }))
    for (const player of players) ranking.update(player)
    for (const player of players) if (player.points === 40) ranking.remove(player)
    expect(drain(ranking).map(({ points }) => points)).toEqual([100, 90, 85, 80, 50, 45])
  })

  test('has no first item when it is empty', () => {
    const ranking = new Ranking(isBefore)
    ranking.remove({ name: 1, points: 1 })
    expect(ranking.first).toBeUndefined()
  })
})
