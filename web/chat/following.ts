/** Scroll position of an element, in pixels. */
export interface ScrollPosition {
  /** Offset of the visible part. */
  readonly top: number
  readonly height: number
  /** Height of the content. */
  readonly bottom: number
}

/** Distance from the end that still counts as at the end. */
export const nearPx = 64

/**
 * Whether a list keeps following its end after a scroll event. Scrolling up stops it; scrolling near the end starts it
 * again.
 */
export function nextFollowing(isFollowing: boolean, before: ScrollPosition, now: ScrollPosition): boolean {
  const isNear = now.bottom - now.top - now.height <= nearPx
  if (now.top < before.top - 1) {
    // When the content shrinks or the element grows, the browser itself scrolls up.
    const isMovedByItself = now.bottom < before.bottom || now.height > before.height
    return isMovedByItself && isFollowing
  }
  return now.top > before.top ? isNear || isFollowing : isFollowing && (isNear || now.top === before.top)
}
