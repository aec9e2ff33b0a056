/** A question for the content of one request. */
export interface ContentQuestion {
  /** Id of the request. Ids are chosen by callers: of several requests the newest one counts. */
  readonly id: string
  /** Of its arrival, Unix milliseconds. Absent: any. */
  readonly time?: number
  /** Only of this line of keys. */
  readonly line?: number
  /** Only of this person: as in `RequestScope`. */
  readonly people?: readonly string[]
}

/** Content that is kept. */
export interface KeptContent {
  /** Of the arrival of the request, Unix milliseconds. */
  readonly time: number
  /** Of the end of its time, Unix milliseconds. */
  readonly expires: number
  /** 0: no key. */
  readonly line: number
  /** Number of the person in the ledger; 0: none. */
  readonly person: number
  /** Absent: no person, or forgotten. */
  readonly personId?: string
  readonly question: string
  readonly answer: string
  readonly isQuestionCut: boolean
  readonly isAnswerCut: boolean
}
