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

describe('a ranking', () => {
  test('knows the first of those that come, change and go', () => {
    const step = fc.record({ name: fc.nat(30), points: fc.option(fc.nat(9), { nil: undefined }) })
    fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const ranking = new Ranking(isBefore), players = new Map<number, Player>()
      for (const { name, points } of steps) {
        const player = players.get(name) ?? { name, points: 0 }
        if (points === undefined) {
          ranking.remove(player)
          players.delete(name)
        } else {
          player.points = points
          players.set(name, player)
          ranking.place(player)
        }
        expect(ranking.first).toBe([...players.values()].toSorted((one, other) => isBefore(one, other) ? -1 : 1)[0])
      }
    }))
  })

  test('has no first when nobody is in it', () => {
    const ranking = new Ranking(isBefore)
    ranking.remove({ name: 1, points: 1 })
    expect(ranking.first).toBeUndefined()
  })
})
