import { useState } from 'react'

/** Returns the value; while `isHeld`, the value from the start of holding. */
export function useHeld<Value>(value: Value, isHeld: boolean): Value {
  const [shown, setShown] = useState(value)
  if (!isHeld && !Object.is(shown, value)) setShown(value)
  return isHeld ? shown : value
}
