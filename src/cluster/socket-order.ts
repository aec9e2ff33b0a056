/** The position of a listening socket in the kernel's list of sockets that share its port. */
export interface SocketPosition {
  /** From 0. */
  readonly index: number
  /** Number of sockets in the list. */
  readonly count: number
}

/** Mirrors the kernel's list of the sockets that share a port. */
export interface SocketOrder<Member> {
  /** The member's socket listens now: it is appended. */
  add(member: Member): void
  /** The member's socket is closed: the last socket moves to its position. Ignored for unknown members. */
  remove(member: Member): void
  /** `undefined` for unknown members. */
  positionOf(member: Member): SocketPosition | undefined
}

/** An empty list. Positions are exact if members are added and removed one by one, in the order of the events. */
export function socketOrder<Member>(): SocketOrder<Member> {
  const members: Member[] = []
  return {
    add(member) {
      members.push(member)
    },
    remove(member) {
      const index = members.indexOf(member)
      if (index === -1) return
      const last = members.pop()
      if (last !== undefined && index < members.length) members[index] = last
    },
    positionOf(member) {
      const index = members.indexOf(member)
      return index === -1 ? undefined : { index, count: members.length }
    },
  }
}
