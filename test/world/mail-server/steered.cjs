// A plugin for Haraka: keeps what was accepted, and misbehaves as the recipient's address asks for.
const fs = require('node:fs');
const path = require('node:path');

const folder = process.env.MAIL_SERVER_FOLDER;
const asked = (name) => fs.existsSync(path.join(folder, name));

exports.hook_rcpt = (next, _connection, params) => {
  const user = params[0].user;
  if (user.startsWith('unknown')) return next(DENY, 'no such user');
  if (asked('busy')) return next(DENYSOFT, 'mailbox is busy');
  next(OK);
};

exports.hook_data = (next) => {
  // The mail has begun to come when the process ends.
  if (asked('die')) {
    fs.rmSync(path.join(folder, 'die'));
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 5);
  }
  next();
};

exports.hook_data_post = (next) => {
  if (asked('hang')) return fs.writeFileSync(path.join(folder, 'hanging'), '');
  if (asked('spam')) return next(DENY, 'content is refused');
  next();
};

exports.hook_queue = (next, connection) => {
  const { transaction } = connection;
  const name = path.join(folder, `${transaction.uuid}.part`);
  const file = fs.createWriteStream(name);
  file.on('finish', () => {
    fs.writeFileSync(
      `${name}.json`,
      JSON.stringify({ tls: connection.tls.enabled, user: connection.notes.auth_user ?? null }),
    );
    fs.renameSync(name, name.replace('.part', '.eml'));
    if (asked('forget')) process.kill(process.pid, 'SIGKILL');
    next(OK);
  });
  transaction.message_stream.pipe(file);
};

// Those who logged in may relay: their mails come here.
exports.hook_queue_outbound = exports.hook_queue;
