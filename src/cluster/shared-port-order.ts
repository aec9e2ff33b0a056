/** Where a listening socket stands in the kernel's list of those that share its port. */
export interface PlaceInGroup {
  /** From 0. */
  readonly place: number
  /** How many sockets the list holds. */
  readonly of: number
}

/**
 * The kernel's list of the sockets that share a port, kept beside it: whoever knows in which order they came and went
 * knows where each stands.
 */
export interface GroupOrder<Member> {
  /** Its socket listens now: it stands at the end. */
  joined(member: Member): void
  /**
   * Its socket is closed, whether it left or its process died: the last one takes its place. Nothing happens when it is
   * not in the list.
   */
  left(member: Member): void
  /** Nothing when it is not in the list. */
  placeOf(member: Member): PlaceInGroup | undefined
}

/**
 * An empty list. Places are exact as long as members are told of one after the other, in the order in which it
 * happened.
 */
export function groupOrder<Member>(): GroupOrder<Member> {
  const members: Member[] = []
  return {
    joined(member) {
      members.push(member)
    },
    left(member) {
      const place = members.indexOf(member)
      if (place === -1) return
      const last = members.pop()
      if (last !== undefined && place < members.length) members[place] = last
    },
    placeOf(member) {
      const place = members.indexOf(member)
      return place === -1 ? undefined : { place, of: members.length }
    },
  }
}
