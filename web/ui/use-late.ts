import { useEffect, useState } from 'react'

/** Whether the component has been there for so long. What is mostly there at once need not say that it is on its way. */
export function useLate(ms: number): boolean {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), ms)
    return () => clearTimeout(timer)
  }, [ms])
  return isLate
}
