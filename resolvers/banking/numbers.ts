// Whole numbers as ids, one after the other for each sort of thing. Specification 2, service B.
import type { Records } from '../kernel/store.ts'

/** The next id of this sort of thing. A transaction that fails leaves it for the next. */
export async function nextId(tx: Records, name: string): Promise<number> {
  const [row] = await tx.sql(
    `INSERT INTO number (name, last) VALUES (?, 1)
     ON CONFLICT (name) DO UPDATE SET last = number.last + 1 RETURNING last`,
    [name],
  )
  return row!.last
}
