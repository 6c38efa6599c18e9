// Identity's pages, in identity's style.
import { pagesIn } from '../server/html.ts'
import { STYLE } from './style.ts'

export const render = pagesIn(STYLE)
