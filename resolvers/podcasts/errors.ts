// What the podcast directory refuses. Specification 1, service S5.
import { fault } from '../kernel/fault.ts'

export const BadRequest = fault('BadRequest', 400)
export const NotFound = fault('NotFound', 404)
export const QuotaExceeded = fault('QuotaExceeded', 429)
