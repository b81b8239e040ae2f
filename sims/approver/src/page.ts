// The page for the person who approves: what is filed, and two buttons.
import type { Application, Status } from './approver.ts';

export interface Desk {
  applications(): readonly Application[];
  decide(id: string, status: Status, message?: string): boolean;
}

/** Undefined for what is not the page's: the API answers that. */
export async function page(request: Request, desk: Desk): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (pathname === '/' && request.method === 'GET')
    return new Response(html(desk.applications()), { headers: { 'content-type': 'text/html; charset=utf-8' } });
  if (pathname !== '/decide' || request.method !== 'POST') return undefined;
  const form = new URLSearchParams(await request.text());
  const status = form.get('status');
  if (status !== 'opened' && status !== 'rejected')
    return new Response('status is opened or rejected', { status: 400 });
  if (!desk.decide(form.get('id') ?? '', status, form.get('message') ?? ''))
    return new Response(`no application ${form.get('id')}`, { status: 404 });
  return new Response(null, { status: 303, headers: { location: '/' } });
}

const html = (applications: readonly Application[]): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Network applications</title>
<style>body{font:16px system-ui;margin:2rem;max-width:70rem}table{border-collapse:collapse;width:100%}td,th{padding:.4rem .8rem;border-bottom:1px solid #ccc;text-align:left}</style>
<h1>Network applications</h1>
${applications.length === 0 ? '<p>Nothing is filed. Reload to look again.</p>' : table(applications)}
</html>
`;

const table = (applications: readonly Application[]): string => `<table>
<tr><th>Application<th>Ticket<th>From (LTM)<th>To (VE)<th>Claimer<th>Status<th>Decide</tr>
${applications.map(row).join('\n')}
</table>`;

const row = ({ id, status, message, body }: Application): string =>
  `<tr>${[
    id,
    body['ticket'],
    body['ltmip'],
    body['veip'],
    body['claimer'],
    [status, message].filter(Boolean).join(': '),
  ]
    .map((cell) => `<td>${escaped(cell)}`)
    .join('')}<td>${status === 'pending' ? form(id) : ''}</tr>`;

const form = (id: string): string =>
  `<form method="post" action="/decide"><input type="hidden" name="id" value="${escaped(id)}"><input name="message" placeholder="message"> <button name="status" value="opened">Open</button> <button name="status" value="rejected">Reject</button></form>`;

const marks: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Whoever files chooses the words: they must not become markup. */
const escaped = (text: unknown): string =>
  (typeof text === 'string' ? text : '').replace(/[&<>"']/g, (mark) => marks[mark] ?? '');
