import { useState } from 'react'

/** The value, or, while it is held, the one of when that began. */
export function useHeld<Value>(value: Value, isHeld: boolean): Value {
  const [shown, setShown] = useState(value)
  if (!isHeld && !Object.is(shown, value)) setShown(value)
  return isHeld ? shown : value
}
