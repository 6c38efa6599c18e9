// The pages where a person pays a tab, or gives to a fundraiser. They work without scripts.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { loadLabel } from '../../resolvers/banking/accounts.ts'
import { fundraiserByUuid } from '../../resolvers/banking/fundraisers.ts'
import { payOnPage } from '../../resolvers/banking/share-payments.ts'
import { tabByUuid, type Tab } from '../../resolvers/banking/tabs.ts'
import type { Context } from '../../resolvers/kernel/context.ts'
import { Fault, Forbidden } from '../../resolvers/kernel/fault.ts'
import { alertOf, Html, html, type Page } from '../server/html.ts'
import { render } from './style.ts'

const MEMBER_MAX = 500

interface PageRequest {
  readonly ctx: Context
  readonly uuid: string
  /** What a form sent; undefined when the page is only looked at. */
  readonly form?: URLSearchParams
}

type PageHandler = (request: PageRequest) => Promise<Page>

export function pageRoutes(
  app: FastifyInstance,
  contextOf: (request: FastifyRequest) => Context,
): void {
  const serve = (url: string, answer: PageHandler) => {
    app.route({
      url,
      method: ['GET', 'POST'],
      exposeHeadRoute: false,
      config: { operation: url },
      async handler(request, reply) {
        const { status, headers, body } = render(await page(request))
        return reply.status(status).headers(headers).send(body)
      },
    })

    async function page(request: FastifyRequest): Promise<Page> {
      const ctx = contextOf(request)
      const { uuid } = request.params as { uuid: string }
      try {
        if (request.method !== 'POST') return await answer({ ctx, uuid })
        checkOrigin(ctx)
        const form = new URLSearchParams((request.body as Buffer | undefined)?.toString() ?? '')
        return await answer({ ctx, uuid, form })
      } catch (error) {
        // What is not a refusal is for the door to log and to answer.
        if (!(error instanceof Fault)) throw error
        return { title: 'That did not work', status: error.status, body: alertOf(error.message) }
      }
    }
  }
  serve('/t/:uuid', tabPage)
  serve('/f/:uuid', fundraiserPage)
}

/** Forms are taken from our own pages alone. Browsers say where a form was. */
function checkOrigin({ address, headers }: Context): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isOwn =
    origin === undefined
      ? site === undefined || site === 'same-origin'
      : origin === new URL(address).origin
  if (!isOwn) throw Forbidden('This form was sent from a page that is not ours.')
}

const gone: Page = {
  title: 'Nothing to pay here',
  status: 404,
  body: html`<p>This address is of no payment request. Ask whoever sent it to you.</p>`,
}

async function tabPage({ ctx, uuid, form }: PageRequest): Promise<Page> {
  const tab = await tabByUuid(ctx.store, uuid)
  if (!tab) return gone
  const { display_name } = await loadLabel(ctx, tab.monetary_account_id)
  const asked = html`<p class="amount">
      ${tab.amount_inquired.value} ${tab.amount_inquired.currency}
    </p>
    <p class="text">${tab.description}</p>`
  const title = `Pay ${display_name}`
  if (tab.status !== 'WAITING_FOR_PAYMENT' || ctx.clock.now().getTime() >= tab.expiresMs) {
    return {
      title,
      status: form ? 400 : 200,
      body: html`${asked}
        <p role="status">${endOf(tab)}</p>`,
    }
  }
  if (!form) return { title, body: html`${asked}${payForm({})}` }
  const refused = await tryToPay(ctx, form, {
    url: `/t/${uuid}`,
    amount: tab.amount_inquired,
    description: tab.description,
  })
  if (refused !== undefined) {
    return { title, status: 400, body: html`${asked}${alertOf(refused)}${payForm({ form })}` }
  }
  return {
    title: 'Paid. Thank you.',
    body: html`${asked}
      <p role="status">${display_name} has received your payment.</p>
      ${onward(tab.redirect_url)}`,
  }
}

const ENDS: Readonly<Record<Tab['status'], string>> = {
  WAITING_FOR_PAYMENT: 'This request has expired.',
  EXPIRED: 'This request has expired.',
  CANCELLED: 'This request was cancelled.',
  PAID: 'This request is paid.',
}
const endOf = ({ status }: Tab): string => ENDS[status]

async function fundraiserPage({ ctx, uuid, form }: PageRequest): Promise<Page> {
  const found = await fundraiserByUuid(ctx.store, uuid)
  if (!found) return gone
  const { display_name } = await loadLabel(ctx, found.monetary_account_id)
  const title = `Give to ${display_name}`
  const about = html`<p class="text">${found.description}</p>`
  if (found.status !== 'ACTIVE') {
    return {
      title,
      body: html`${about}
        <p role="status">This fundraiser takes no payments now.</p>`,
    }
  }
  const fields = html`<label for="amount">Amount in ${found.currency}</label>
    <input
      id="amount"
      name="amount"
      inputmode="decimal"
      required
      maxlength="15"
      placeholder="10.00"
    />`
  if (!form) return { title, body: html`${about}${payForm({ fields })}` }
  const refused = await tryToPay(ctx, form, {
    url: `/f/${uuid}`,
    amount: { value: member(form, 'amount').replace(',', '.'), currency: found.currency },
    description: `To the fundraiser of ${display_name}`,
  })
  if (refused !== undefined) {
    return {
      title,
      status: 400,
      body: html`${about}${alertOf(refused)}${payForm({ form, fields })}`,
    }
  }
  return {
    title: 'Given. Thank you.',
    body: html`<p role="status">${display_name} has received your payment.</p>
      ${onward(found.redirect_url)}`,
  }
}

/** Returns what was refused, or undefined when it is paid. */
async function tryToPay(
  ctx: Context,
  form: URLSearchParams,
  what: Pick<Parameters<typeof payOnPage>[1], 'url' | 'amount' | 'description'>,
): Promise<string | undefined> {
  try {
    await payOnPage(ctx, { ...what, iban: member(form, 'iban'), code: member(form, 'code') })
    return undefined
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.message
  }
}

const payForm = ({ form, fields }: { form?: URLSearchParams; fields?: Html }): Html =>
  html`<form method="post">
    ${fields}
    <label for="iban">IBAN of your account here</label>
    <input
      id="iban"
      name="iban"
      required
      maxlength="42"
      autocomplete="off"
      value="${form ? member(form, 'iban') : ''}"
    />
    <label for="code">Payment code</label>
    <input
      id="code"
      name="code"
      required
      maxlength="12"
      inputmode="numeric"
      autocomplete="one-time-code"
    />
    <p class="soft">
      Your bank application makes a payment code for you. It works once, for ten minutes.
    </p>
    <button>Pay</button>
  </form>`

const onward = (url: string | null): Html =>
  url === null ? html`` : html`<p><a href="${url}" rel="noreferrer">Go on</a></p>`

/** A member of a form, cut where nobody writes that much. */
const member = (form: URLSearchParams, name: string): string =>
  (form.get(name) ?? '').slice(0, MEMBER_MAX)
