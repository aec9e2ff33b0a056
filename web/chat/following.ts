/** What is seen of something that scrolls, in pixels. */
export interface Place {
  /** Where what is seen begins. */
  readonly top: number
  readonly height: number
  /** Of all there is. */
  readonly bottom: number
}

/** Nearer to the end than this is at the end. */
export const nearPx = 64

/**
 * Whether the end is followed from now on: not any more as soon as somebody scrolls up, and again when they come near
 * to the end.
 */
export function nextFollowing(isFollowing: boolean, before: Place, now: Place): boolean {
  const isNear = now.bottom - now.top - now.height <= nearPx
  if (now.top < before.top - 1) {
    // What becomes shorter, or is seen through a larger window, moves what is seen by itself, and may have grown again since.
    const isMovedByItself = now.bottom < before.bottom || now.height > before.height
    return isMovedByItself && isFollowing
  }
  return now.top > before.top ? isNear || isFollowing : isFollowing && (isNear || now.top === before.top)
}
