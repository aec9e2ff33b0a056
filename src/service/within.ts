/** What a promise gives, or `undefined` when it takes longer than `ms` milliseconds. It goes on either way. */
export function withinMs<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms)
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
