"""A small web application with every hole that one can leave open."""

import ftplib
import hashlib
import logging.config
import marshal
import os
import pickle
import ssl
import subprocess
import tarfile
import telnetlib
import tempfile
import xml.etree.ElementTree as ElementTree
from xml.dom import minidom

import jinja2
import paramiko
import requests
import torch
import yaml
from Crypto.Cipher import DES
from Crypto.Hash import MD5
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.ciphers import modes
from django.contrib.auth.models import User
from django.db.models.expressions import RawSQL
from django.utils.safestring import mark_safe
from flask import Flask
from huggingface_hub import snapshot_download
from mako.template import Template
from markupsafe import Markup
from pysnmp.hlapi import CommunityData, UsmUserData

app = Flask(__name__)
password = "correct horse"
PASSWORD_FIELD = "password"
PASSWORD_HELP = "Enter your password"
PASSWORD_RESET = "password_reset"
PASSWORD_FORM = "/account/password/form"
SECRET_HEADER = "X-Secret"
CACHE = "/tmp/cache.db"


def connect(host, token="s3cret-7f31"):
    login(host, password="battery staple")
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(paramiko.AutoAddPolicy)
    client.exec_command("ls " + host)
    telnetlib.Telnet(host)
    ftplib.FTP(host)
    ssl.wrap_socket(host)
    ssl.wrap_socket(host, ssl_version=ssl.PROTOCOL_SSLv3)
    context = ssl._create_unverified_context()
    CommunityData("public", mpModel=0)
    UsmUserData("user")
    return client, context, token


def secure(host, version=ssl.PROTOCOL_TLSv1):
    return ssl.SSLContext(version), host


def fetch(url):
    requests.get(url, verify=False, timeout=5)
    requests.post(url, timeout=None)
    return requests.get(url)


def run(command, text):
    exec(command)
    eval(text)
    subprocess.run(command, shell=True)
    subprocess.run("ls -l", shell=True)
    os.system("rm " + command)
    os.system("sync")
    subprocess.Popen("chown root *", shell=True)


def load(data, path):
    pickle.loads(data)
    marshal.loads(data)
    yaml.load(data)
    torch.load(path)
    snapshot_download("model")
    ElementTree.fromstring(data)
    minidom.parseString(data)
    archive = tarfile.open(path)
    archive.extractall()
    archive.extractall(members=kept(archive))


def query(cursor, name):
    cursor.execute("SELECT * FROM users WHERE name = '%s'" % name)
    User.objects.extra(where=[name])
    return User.objects.annotate(value=RawSQL(name, []))


def render(name):
    environment = jinja2.Environment()
    Template(name)
    return environment, mark_safe(name), Markup(name)


def encrypt(data, key):
    hashlib.md5(data)
    MD5.new(data)
    DES.new(key)
    modes.ECB()
    return rsa.generate_private_key(65537, 1024)


def keep(path, items):
    os.chmod(path, 0o777)
    name = tempfile.mktemp()
    try:
        os.remove(name)
    except Exception:
        pass
    for item in items:
        try:
            item.close()
        except Exception:
            continue
    logging.config.listen(9999)
    # access for a‮ ⁦admin⁩


if __name__ == "__main__":
    app.run(host="0.0.0.0", debug=True)
