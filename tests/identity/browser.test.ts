// What people see, in a real browser: the pages, the popup, the modal, the session iframe.
import { chromium, type Browser, type Frame, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { authorizeQuery, openIdentity, PASSWORD } from './identity.ts'
import { findChromium, openSite } from './site.ts'

const executablePath = findChromium()

describe.skipIf(!executablePath)('in a real browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())

  async function open(change: object = {}) {
    const identity = await openIdentity()
    const issuer = await identity.listen()
    const site = await openSite()
    const redirect_uri = `${site.origin}/callback`
    const client = await identity.ada.client({ redirectUris: [redirect_uri], ...change })
    const context = await browser.newContext({ locale: 'en' })
    onTestFinished(async () => {
      await context.close()
      await site.close()
    })
    const page = await context.newPage()
    const broken: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') broken.push(message.text())
    })
    const url = (more: Record<string, string> = {}) =>
      `${issuer}/authorize?${authorizeQuery(client, { redirect_uri, ...more })}`
    return { identity, issuer, site, client, context, page, url, broken, redirect_uri }
  }

  async function signIn(place: Page | Frame, password = PASSWORD): Promise<void> {
    await place.getByLabel('E-mail address').fill('ada@example.org')
    await place.getByLabel('Password').fill(password)
    await place.getByRole('button', { name: 'Sign in' }).click()
  }

  test('a person signs in and consents on pages, and comes back to the client', async () => {
    const { page, url, broken, redirect_uri } = await open()

    await page.goto(url())
    await signIn(page)
    await page.getByRole('heading', { name: 'Let A client in?' }).waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('back at the client').waitFor()

    const back = new URL(page.url())
    expect(back.origin + back.pathname).toBe(redirect_uri)
    expect(back.searchParams.get('state')).toBe('st-1')
    expect(back.searchParams.get('code')).toMatch(/^[\w-]{43}$/)
    expect(broken).toEqual([])
  })

  test('the basic flow needs no script', async () => {
    const { url, redirect_uri } = await open()
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()

    await page.goto(url({ response_type: 'code id_token' }))
    await signIn(page)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${redirect_uri}#**`)

    expect(page.url()).toContain('#code=')
    await context.close()
  })

  test('a wrong password is told, and the right one works after it', async () => {
    const { page, url } = await open()

    await page.goto(url())
    await signIn(page, 'not the password')
    const told = await page.getByRole('alert').textContent()
    await signIn(page)

    expect(told).toBe('The e-mail address or the password is wrong.')
    await page.getByRole('heading', { name: 'Let A client in?' }).waitFor()
  })

  test('a person signs in in a popup, which ends at the client', async () => {
    const { page, site, url } = await open()
    site.page(
      '/',
      `<button onclick="window.open('${url({ display: 'popup' })}', 'p', 'width=420,height=640')">In</button>`,
    )
    await page.goto(`${site.origin}/`)

    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByText('In').click()])
    await popup.waitForLoadState()
    const width = await popup
      .locator('main')
      .evaluate((main) => (main as any).offsetWidth / (globalThis as any).innerWidth)
    await signIn(popup)
    await popup.getByRole('button', { name: 'Allow' }).click()
    await popup.getByText('back at the client').waitFor()

    // It fills its window.
    expect(width).toBeGreaterThan(0.9)
    expect(popup.url()).toContain('code=')
  })

  test('a person signs in in a modal, framed by the client’s page', async () => {
    const { page, site, url, broken } = await open()
    site.page(
      '/',
      `<dialog open><iframe name="modal" width="420" height="600" src="${url({ display: 'modal' })}"></iframe></dialog>`,
    )
    await page.goto(`${site.origin}/`)
    const modal = page.frame('modal')!

    await signIn(modal)
    await modal.getByRole('button', { name: 'Allow' }).click()
    await modal.getByText('back at the client').waitFor()

    expect(modal.url()).toContain('code=')
    expect(broken).toEqual([])
  })

  test('nobody else frames a modal, and nobody a page', async () => {
    const { page, site, url, broken } = await open()
    const stranger = await openSite()
    stranger.page('/', `<iframe name="f" src="${url({ display: 'modal' })}"></iframe>`)
    site.page('/', `<iframe name="f" src="${url()}"></iframe>`)

    for (const origin of [stranger.origin, site.origin]) {
      await page.goto(`${origin}/`)
      await page.waitForLoadState('networkidle')
      expect(await page.frame({ name: 'f' })?.getByLabel('Password').count()).toBe(0)
    }

    expect(broken.filter((text) => text.includes('frame-ancestors')).length).toBe(2)
    await stranger.close()
  })

  test('an error has a page, in light and in dark', async () => {
    const { page, url } = await open()
    const shown: string[] = []

    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const answer = await page.goto(url({ redirect_uri: 'https://evil.example/' }))
      expect(answer!.status()).toBe(400)
      await page.getByRole('heading', { name: 'That did not work' }).waitFor()
      shown.push(
        await page
          .locator('body')
          .evaluate((body) => (globalThis as any).getComputedStyle(body).backgroundColor),
      )
    }

    expect(shown).toEqual(['rgb(244, 245, 247)', 'rgb(20, 23, 28)'])
  })

  test('the account page shows sessions, applications and sign-ins, and takes them back', async () => {
    const { page, url, issuer } = await open()
    await page.goto(url())
    await signIn(page)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('back at the client').waitFor()

    await page.goto(`${issuer}/account`)
    const text = await page.locator('main').innerText()
    await page.getByRole('button', { name: 'Take back' }).click()
    await page.waitForURL(`${issuer}/account`)

    expect(text).toContain('(this one)')
    expect(text).toContain('A client')
    expect(text).toContain('signed in')
    expect(await page.getByRole('button', { name: 'Take back' }).count()).toBe(0)
  })

  test('a person signs out, and is asked for the password again', async () => {
    const { page, url, issuer } = await open()
    await page.goto(url())
    await signIn(page)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('back at the client').waitFor()

    await page.goto(`${issuer}/sign-out`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    await page.goto(url())

    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  test('the session iframe tells another origin whether the session changed', async () => {
    const { page, url, issuer, site, client } = await open()
    const stranger = await openSite()
    const script = `<iframe id="op" src="${issuer}/${client.id}/iframe"></iframe><script>
      window.ask = (message) => new Promise((resolve) => {
        const timer = setTimeout(() => resolve('silent'), 500)
        addEventListener('message', (event) => { clearTimeout(timer); resolve(event.data) }, { once: true })
        document.getElementById('op').contentWindow.postMessage(message, '${issuer}')
      })</script>`
    site.page('/watch', script)
    stranger.page('/watch', script)
    const ask = (message: string) => page.evaluate((text) => (globalThis as any).ask(text), message)

    await page.goto(url())
    await signIn(page)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('back at the client').waitFor()
    const state = new URL(page.url()).searchParams.get('session_state')!
    await page.goto(`${site.origin}/watch`)
    const same = await ask(`${client.id} ${state}`)
    const odd = await ask('what is this message')
    const foreign = await ask(`other-client ${state}`)
    await page.goto(`${issuer}/sign-out`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    await page.goto(`${site.origin}/watch`)
    const after = await ask(`${client.id} ${state}`)
    await page.goto(`${stranger.origin}/watch`)
    const told = await ask(`${client.id} ${state}`)

    expect([same, odd, foreign, after]).toEqual(['unchanged', 'error', 'error', 'changed'])
    expect(told).toBe('silent')
    await stranger.close()
  })

  test('everything on the pages has a name that assistive technology can read', async () => {
    const { page, url } = await open()

    await page.goto(url())
    const tree = await page.locator('body').ariaSnapshot()

    expect(tree).toContain('heading "Sign in" [level=1]')
    expect(tree).toContain('textbox "E-mail address"')
    expect(tree).toContain('textbox "Password"')
    expect(tree).toContain('checkbox "Stay signed in on this device"')
    expect(tree).toContain('button "Sign in"')
    expect(tree).toContain('button "Cancel"')
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
  })
})
