// A configuration the device will not have, in its own words and with the HTTP status its REST answers.

/** Thrown by checks and by the REST front, caught once where answers are made. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function notFound(what: string, path: string): Refusal {
  return new Refusal(404, `01020036:3: The requested ${what} (${path}) was not found.`);
}

export function alreadyThere(what: string, path: string): Refusal {
  return new Refusal(
    409,
    `01020066:3: The requested ${what} (${path}) already exists in partition ${path.split('/')[1]}.`,
  );
}
