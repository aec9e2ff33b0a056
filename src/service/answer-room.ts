/** So much of one answer is held whatever the others hold: most are smaller. */
const freeBytes = 1024 * 1024

/**
 * The bytes that answers may hold, over all requests: while they are gathered, and, where they are large, while they
 * are read. What counts is what each has beyond its first MiB.
 */
export interface AnswerRoom {
  /** The part of one answer, empty at first. */
  share(): AnswerShare
}

/** What one answer holds. */
export interface AnswerShare {
  /**
   * Holds so many bytes more. @returns whether there was room for them, else it holds nothing any more. An answer that
   * nobody is beside has it, however large
   */
  hold(bytes: number): boolean
  /** Holds nothing any more. May be called more than once. */
  release(): void
}

/** Room for `bytesMost()` bytes, asked for at each piece, so that a reload changes it. */
export function answerRoom(bytesMost: () => number): AnswerRoom {
  let held = 0
  return {
    share() {
      let length = 0
      let own = 0
      function release(): void {
        held -= own
        length = own = 0
      }
      return {
        release,
        hold(bytes) {
          const more = Math.max(0, length + bytes - freeBytes) - own
          const others = held - own
          if (more > 0 && others > 0 && held + more > bytesMost()) {
            release()
            return false
          }
          length += bytes
          own += more
          held += more
          return true
        },
      }
    },
  }
}

/** Room without end: for whoever asks for one answer at a time. */
export const endlessRoom: AnswerRoom = { share: () => ({ hold: () => true, release() {} }) }
